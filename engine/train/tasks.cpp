#include "engine/train/tasks.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/model/inputs.h"
#include "engine/ops/kinds.h"
#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

namespace decoderscope::train {

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
Ids shifted(const Ids& tokens, Index last = static_cast<Index>(kIgnoredTarget)) {
    Ids answers(tokens.begin() + 1, tokens.end());
    answers.push_back(last);
    return answers;
}

struct Row {
    Ids tokens, answers;
};

// A task without a source, whose rows are drawn one by one.
Task row_by_row(std::string name, std::vector<std::string> pieces, Index usual_rows,
                std::function<Row(Choices&)> draw) {
    const auto draw_batch = [draw = std::move(draw)](Choices& choices, Index rows) {
        std::vector<Ids> tokens, answers;
        for (Index i = 0; i < rows; ++i) {
            Row row = draw(choices);
            tokens.push_back(std::move(row.tokens));
            answers.push_back(std::move(row.answers));
        }
        return batch_of(tokens, answers);
    };
    return {std::move(name), std::move(pieces), {}, usual_rows, draw_batch};
}

Task induction_task() {
    const std::vector<std::string> pieces = characters({"<pad>", "<bos>"}, kLetters);
    const tokenizer::Tokenizer tokenizer = tokenizer::parse_character_vocabulary(vocabulary_json(pieces));
    return row_by_row("induction", pieces, 32, [tokenizer](Choices& choices) {
        const std::string letters = random_letters(choices, 8, 22);
        Row row = {tokenizer.encode(letters + letters), {}};
        row.answers = shifted(row.tokens);
        return row;
    });
}

constexpr std::array<std::string_view, 5> kNames = {"reverse", "reversal", "dates", "induction", "verses"};

using std::chrono::year_month_day;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",      // not a message: what the task is about
    "April",   "May",      "June",       // not a message: the same
    "July",    "August",   "September",  // not a message: the same
    "October", "November", "December",   // not a message: the same
};
constexpr Index kDays = 73'049;  // from 1900-01-01 to 2099-12-31
constexpr double kHeldOut = 1000.0 / static_cast<double>(kDays);
constexpr Index kSpellings = 7;

std::string padded(unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); }

std::string iso(int year, unsigned month, unsigned day) {
    return std::to_string(year) + "-" + padded(month) + "-" + padded(day);
}

std::string spelled(Index spelling, int of_year, unsigned of_month, unsigned of_day) {
    const std::string year = std::to_string(of_year), day = std::to_string(of_day), number = std::to_string(of_month);
    const std::string month(kMonths[of_month - 1]), brief = month.substr(0, 3);
    const std::array<std::string, kSpellings> spellings = {
        day + " " + month + " " + year, month + " " + day + ", " + year, day + " " + brief + " " + year,
        brief + " " + day + " " + year, day + "." + number + "." + year, number + "/" + day + "/" + year,
        year + " " + month + " " + day};
    return spellings[static_cast<std::size_t>(spelling)];
}

std::string in_lower_case(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

bool is_held_out(Index day) {
    return RandomStream(0, "held_out_dates").uniform(static_cast<std::uint64_t>(day)) < kHeldOut;
}

Pair random_date(Choices& choices) {
    Index number = choices.below(kDays);
    while (is_held_out(number)) number = choices.below(kDays);
    const std::chrono::sys_days first =
        year_month_day(std::chrono::year(1900), std::chrono::January, std::chrono::day(1));
    const year_month_day date(first + std::chrono::days(number));
    const int year = static_cast<int>(date.year());
    const unsigned month = static_cast<unsigned>(date.month()), day = static_cast<unsigned>(date.day());
    const std::string source = spelled(choices.below(kSpellings), year, month, day);
    return {choices.below(2) == 0 ? in_lower_case(source) : source, iso(year, month, day)};
}

}  // namespace

std::vector<std::string> characters(std::vector<std::string> special, std::string_view ascii) {
    for (const char character : ascii) special.emplace_back(1, character);
    return special;
}

Inputs batch_of(const std::vector<std::vector<Index>>& tokens, const std::vector<std::vector<Index>>& answers) {
    TokenBatch given = padded_batch(tokens, axis::pos);
    Inputs inputs;
    inputs.tokens = std::move(given.tokens);
    inputs.attention_mask = std::move(given.mask);
    inputs.targets = padded_batch(answers, axis::pos, static_cast<Index>(kIgnoredTarget)).tokens;
    return inputs;
}

Task translation_task(std::string name, std::vector<std::string> source, std::vector<std::string> target, Index rows,
                      std::function<Pair(Choices&)> draw_pair) {
    const tokenizer::Tokenizer read = tokenizer::parse_character_vocabulary(vocabulary_json(source));
    const tokenizer::Tokenizer written = tokenizer::parse_character_vocabulary(vocabulary_json(target));
    const auto draw_batch = [read, written, draw_pair = std::move(draw_pair)](Choices& choices, Index count) {
        std::vector<std::vector<Index>> sources, tokens, answers;
        for (Index row = 0; row < count; ++row) {
            const Pair pair = draw_pair(choices);
            sources.push_back(read.encode(pair.source));
            tokens.push_back(written.encode(pair.target));
            answers.emplace_back(tokens.back().begin() + 1, tokens.back().end());
            answers.back().push_back(*written.special().end);
        }
        Inputs inputs = batch_of(tokens, answers);
        TokenBatch encoder = padded_batch(sources, axis::src);
        inputs.encoder_tokens = std::move(encoder.tokens);
        inputs.encoder_attention_mask = std::move(encoder.mask);
        return inputs;
    };
    return {std::move(name), std::move(target), std::move(source), rows, draw_batch};
}

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
    const tokenizer::Tokenizer tokenizer = tokenizer::parse_character_vocabulary(vocabulary_json(pieces));
    const Index end = *tokenizer.special().end;
    return row_by_row("reversal", pieces, 64, [tokenizer, end, longest](Choices& choices) {
        const std::string word = random_word(choices, longest);
        Ids ids = tokenizer.encode(word), answer = tokenizer.encode(reversed(word));
        answer[0] = end;  // instead of <bos>
        Ids asked(ids.size(), static_cast<Index>(kIgnoredTarget));
        for (const Index id : shifted(answer, end)) asked.push_back(id);
        ids.insert(ids.end(), answer.begin(), answer.end());
        return Row{std::move(ids), std::move(asked)};
    });
}

Task text_task(std::string name, const std::vector<std::string>& texts, const tokenizer::Tokenizer& tokenizer,
               Index longest) {
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
    return row_by_row(std::move(name), std::move(pieces), 16, [all](Choices& choices) {
        const Ids& ids = (*all)[static_cast<std::size_t>(choices.below(static_cast<Index>(all->size())))];
        return Row{{ids.begin(), ids.end() - 1}, {ids.begin() + 1, ids.end()}};
    });
}

Task find_task(std::string_view name) {
    if (name == "reverse" || name == "reverse-post-norm") return reverse_task(16);
    if (name == "reversal") return reversal_task(6);
    if (name == "dates") return dates_task();
    if (name == "induction") return induction_task();
    if (name == "verses") throw Error("verses: no texts; expected a file with one text per line");
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

Task dates_task() {
    const std::vector<std::string> special = {"<pad>", "<bos>", "<eos>"};
    return translation_task("dates", characters(special, " ,./0123456789abcdefghijklmnopqrstuvwxyzADFJMNOS"),
                            characters(special, "-0123456789"), 48, random_date);
}

}  // namespace decoderscope::train
