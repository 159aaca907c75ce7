#include "engine/train/tasks.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/model/token_batch.h"
#include "engine/model/tokenizer/character_vocabulary.h"
#include "engine/ops/kinds.h"
#include "engine/train/dates_task.h"
#include "engine/train/pairs.h"

#include <algorithm>
#include <array>
#include <memory>

namespace decoderscope {

namespace {

using Ids = std::vector<Index>;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

std::string random_word(Choices& choices, Index longest) {
    std::string word(static_cast<std::size_t>(choices.between(1, longest)), ' ');
    for (char& letter : word) letter = kLetters[static_cast<std::size_t>(choices.below(26))];
    return word;
}

std::string reversed(std::string word) {
    std::ranges::reverse(word);
    return word;
}

// A string in which no letter comes twice, so that one place alone says what follows.
std::string random_letters(Choices& choices, Index shortest, Index longest) {
    std::string letters(kLetters);
    const auto length = static_cast<std::size_t>(choices.between(shortest, longest));
    for (std::size_t i = 0; i < length; ++i)
        std::swap(letters[i], letters[i + static_cast<std::size_t>(choices.below(static_cast<Index>(26 - i)))]);
    return letters.substr(0, length);
}

// The tokens after each; the last has none, or the one given.
Ids shifted(const Ids& tokens, Index last = static_cast<Index>(kLeftOut)) {
    Ids answers(tokens.begin() + 1, tokens.end());
    answers.push_back(last);
    return answers;
}

Task induction_task() {
    const std::vector<std::string> pieces = characters({"<pad>", "<bos>"}, kLetters);
    const Tokenizer tokenizer = parse_character_vocabulary(vocabulary_json(pieces));
    const auto draw_batch = [tokenizer](Choices& choices, Index rows) {
        std::vector<Ids> tokens, answers;
        for (Index row = 0; row < rows; ++row) {
            const std::string letters = random_letters(choices, 8, 22);
            tokens.push_back(tokenizer.encode(letters + letters));
            answers.push_back(shifted(tokens.back()));
        }
        return batch_of(tokens, answers);
    };
    return {.name = "induction", .vocabulary = pieces, .encoder_vocabulary = {}, .rows = 32, .draw_batch = draw_batch};
}

constexpr std::array<std::string_view, 5> kNames = {"reverse", "reversal", "dates", "induction", "verses"};

}  // namespace

Index Choices::below(Index count) { return static_cast<Index>(random_.uniform(next_++) * static_cast<double>(count)); }

Inputs Task::batch(std::uint64_t seed, Index step, Index batch_rows) const {
    Choices choices(seed, name + " " + std::to_string(step));
    return draw_batch(choices, batch_rows);
}

std::span<const std::string_view> task_names() { return kNames; }

Task reverse_task(Index longest) {
    const std::vector<std::string> pieces = characters({"<pad>", "<bos>", "<eos>"}, kLetters);
    return translation_task("reverse", pieces, pieces, 48, [longest](Choices& choices) {
        const std::string word = random_word(choices, longest);
        return Pair{word, reversed(word)};
    });
}

Task reversal_task(Index longest) {
    const std::vector<std::string> pieces = characters({"<pad>", "<bos>", "<eos>"}, kLetters);
    const Tokenizer tokenizer = parse_character_vocabulary(vocabulary_json(pieces));
    const Index end = *tokenizer.special().end;
    const auto draw_batch = [tokenizer, end, longest](Choices& choices, Index rows) {
        std::vector<Ids> tokens, answers;
        for (Index row = 0; row < rows; ++row) {
            const std::string word = random_word(choices, longest);
            Ids ids = tokenizer.encode(word), answer = tokenizer.encode(reversed(word));
            answer[0] = end;  // instead of <bos>
            Ids asked(ids.size(), static_cast<Index>(kLeftOut));
            for (const Index id : shifted(answer, end)) asked.push_back(id);
            ids.insert(ids.end(), answer.begin(), answer.end());
            tokens.push_back(std::move(ids));
            answers.push_back(std::move(asked));
        }
        return batch_of(tokens, answers);
    };
    return {.name = "reversal", .vocabulary = pieces, .encoder_vocabulary = {}, .rows = 64, .draw_batch = draw_batch};
}

Task text_task(std::string name, const std::vector<std::string>& texts, const Tokenizer& tokenizer, Index longest) {
    const auto all = std::make_shared<std::vector<Ids>>();
    for (const std::string& text : texts) {
        if (text.empty()) continue;
        Ids ids = tokenizer.encode(text);
        if (tokenizer.special().end) ids.push_back(*tokenizer.special().end);
        if (static_cast<Index>(ids.size()) > longest + 1) ids.resize(static_cast<std::size_t>(longest + 1));
        if (ids.size() > 1) all->push_back(std::move(ids));
    }
    if (all->empty()) throw Error("{name}: no text, expected at least one of two tokens", {{"name", name}});
    std::vector<std::string> pieces;
    for (Index id = 0; id < tokenizer.size(); ++id) pieces.push_back(tokenizer.piece(id));
    const auto draw_batch = [all](Choices& choices, Index rows) {
        std::vector<Ids> tokens, answers;
        for (Index row = 0; row < rows; ++row) {
            const Ids& ids = (*all)[static_cast<std::size_t>(choices.below(static_cast<Index>(all->size())))];
            tokens.emplace_back(ids.begin(), ids.end() - 1);
            answers.emplace_back(ids.begin() + 1, ids.end());
        }
        return batch_of(tokens, answers);
    };
    return {std::move(name), std::move(pieces), {}, 16, draw_batch};
}

Task find_task(std::string_view name) {
    if (name == "reverse" || name == "reverse-post-norm") return reverse_task(16);
    if (name == "reversal") return reversal_task(6);
    if (name == "dates") return dates_task();
    if (name == "induction") return induction_task();
    if (name == "verses") throw Error("verses: no texts; expected a file with one text a line");
    std::string names;
    for (const std::string_view known : kNames) names += (names.empty() ? "" : ", ") + std::string(known);
    throw Error("{name}: no such task; expected one of {names}", {{"name", std::string(name)}, {"names", names}});
}

void check_task(const Task& task, const Config& config) {
    const auto expect = [&](const char* key, Index is, Index wanted) {
        if (is != wanted)
            throw Error("{key}: {value}, expected {wanted} for the task {task}",
                        {{"key", key}, {"value", is}, {"wanted", wanted}, {"task", task.name}});
    };
    const auto encoder = static_cast<Index>(task.encoder_vocabulary.size());
    expect("vocab_size", config.vocab_size, static_cast<Index>(task.vocabulary.size()));
    if (!config.lm_head) throw Error("lm_head: false, expected true for the task {task}", {{"task", task.name}});
    if (config.cross_attention != (encoder > 0))
        throw Error("cross_attention: {value}, expected {wanted} for the task {task}",
                    {{"value", config.cross_attention ? "true" : "false"},
                     {"wanted", encoder > 0 ? "true" : "false"},
                     {"task", task.name}});
    if (encoder > 0 && config.encoder_layers == 0)
        throw Error("encoder_layers: 0, expected at least 1 for the task {task}", {{"task", task.name}});
    if (encoder > 0) expect("encoder_vocab_size", config.encoder_vocab_size, encoder);
}

std::string vocabulary_json(const std::vector<std::string>& pieces) {
    nlohmann::ordered_json json = {{"tokens", pieces}};
    for (const auto& [key, piece] : {std::pair{"pad", "<pad>"}, {"beginning", "<bos>"}, {"end", "<eos>"}})
        if (std::ranges::find(pieces, piece) != pieces.end()) json[key] = piece;
    return json.dump(2) + "\n";
}

}  // namespace decoderscope
