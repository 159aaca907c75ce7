#include "engine/model/tokenizer/tokenizer_json.h"

#include "engine/error.h"
#include "engine/json.h"
#include "engine/model/tokenizer/byte_level_bpe.h"

#include <algorithm>
#include <charconv>

namespace decoderscope {

namespace {

using Json = nlohmann::json;

// The value of a key; null if absent.
const Json& at(const Json& object, const char* key) {
    static const Json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}

std::string text_at(const Json& object, const char* key) {
    const Json& text = at(object, key);
    return text.is_string() ? text.get<std::string>() : std::string();
}

bool is_true(const Json& object, const char* key) { return at(object, key) == Json(true); }

// The step itself, or those of a Sequence of them (under `list`).
std::vector<Json> steps(const Json& step, const char* list) {
    if (text_at(step, "type") != "Sequence") return {step};  // not a message: a type
    const Json& members = at(step, list);
    return members.is_array() ? members.get<std::vector<Json>>() : std::vector<Json>();
}

bool has_step(const Json& step, const char* list, const std::string& type) {
    const std::vector<Json> all = steps(step, list);
    return std::any_of(all.begin(), all.end(), [&](const Json& one) { return text_at(one, "type") == type; });
}

// ---- what the file holds

// BPE, WordPiece and WordLevel have an object; Unigram has a list of pieces and scores.
TokenIds read_ids(const Json& vocabulary) {
    if (!vocabulary.is_array()) return token_ids(vocabulary);
    TokenIds ids;
    for (const Json& entry : vocabulary) {
        const auto number = static_cast<Index>(ids.size());
        if (!entry.is_array() || entry.empty() || !entry[0].is_string() ||
            !ids.emplace(entry[0].get<std::string>(), number).second)
            throw Error("entry {number}, expected a piece of its own and its score", {{"number", number}});
    }
    return ids;
}

TokenIds read_added(const Json& list, const TokenIds& ids) {
    TokenIds added;
    if (list.is_null()) return added;
    if (!list.is_array()) throw Error("expected a list of tokens");
    for (const Json& entry : list) {
        const std::string content = text_at(entry, "content");
        if (content.empty()) throw Error("expected a list of tokens, each with an id and a content");
        const Index id = token_id(at(entry, "id"), content);
        const auto known = ids.find(content);
        if ((known != ids.end() && known->second != id) || !added.emplace(content, id).second)
            throw Error("\"{text}\" has another id elsewhere, expected one", {{"text", content.substr(0, 100)}});
    }
    return added;
}

std::vector<WrittenMerge> read_merges(const Json& list) {
    if (!list.is_array()) throw Error("missing, expected a list such as [\"Ġ t\", …] or [[\"Ġ\", \"t\"], …]");
    std::vector<WrittenMerge> merges;
    for (const Json& entry : list) {
        const bool pair = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
        if (!pair && !entry.is_string())
            throw Error("entry {merges}, expected \"a b\" or [\"a\", \"b\"]", {{"merges", merges.size()}});
        merges.push_back(pair ? WrittenMerge{entry[0].get<std::string>(), entry[1].get<std::string>()}
                              : parse_merge(entry.get_ref<const std::string&>()));
    }
    return merges;
}

// The token that a template puts before every text.
std::optional<Index> read_beginning(const Json& post_processor, const ByteLevelTables& tables) {
    for (const Json& step : steps(post_processor, "processors")) {
        const Json& single = at(step, "single");
        if (text_at(step, "type") != "TemplateProcessing" || !single.is_array() || single.empty()) continue;
        const std::string token = text_at(at(single[0], "SpecialToken"), "id");
        for (const TokenIds* ids : {&tables.added, &tables.ids})
            if (const auto found = ids->find(token); found != ids->end()) return found->second;
    }
    return std::nullopt;
}

// ---- whether text is cut as GPT-2 does

// Why it is not; empty if it is.
Sentence other_than_gpt2(const Json& file) {
    const Json& model = at(file, "model");
    const Json& words = at(file, "pre_tokenizer");
    const Json& normalizer = at(file, "normalizer");
    const std::string kind = text_at(model, "type");
    if (!kind.empty() && kind != "BPE") return message("its model is {kind}", {{"kind", kind}});
    if (!normalizer.is_null()) return message("it has a normalizer, {type}", {{"type", text_at(normalizer, "type")}});
    if (words.is_null()) return message("its pre-tokenizer is none");
    if (text_at(words, "type") != "ByteLevel")
        return message("its pre-tokenizer is {type}", {{"type", text_at(words, "type")}});
    if (at(words, "use_regex") == Json(false)) return message("its pre-tokenizer doesn't use GPT-2's pattern");
    if (is_true(words, "add_prefix_space")) return message("it puts a space before every text");
    if (is_true(model, "ignore_merges")) return message("it ignores its merges for words that are tokens");
    if (at(model, "dropout").is_number() && at(model, "dropout") != 0.0)
        return message("it leaves out merges at random");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!text_at(model, key).empty()) return message("it has a {key}", {{"key", key}});
    for (const Json& token : at(file, "added_tokens"))
        for (const char* key : {"lstrip", "rstrip", "single_word"})
            if (is_true(token, key))
                return message("its token \"{token}\" has {key}", {{"token", text_at(token, "content")}, {"key", key}});
    return {};
}

// ---- labels of tokenizers that don't write bytes in the alphabet

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t found = text.find(from); found != std::string::npos; found = text.find(from, found + to.size()))
        text.replace(found, from.size(), to);
}

// SentencePiece writes a space as "▁", and a byte without a piece as "<0x0A>".
std::string sentence_piece(std::string piece) {
    unsigned byte = 0;
    if (piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>') &&
        std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16).ptr == piece.data() + 5)
        return {static_cast<char>(byte)};
    replace_all(piece, "▁", " ");
    return piece;
}

Tokenizer labels(const Json& file, const ByteLevelTables& tables) {
    if (has_step(at(file, "decoder"), "decoders", "ByteLevel")) return byte_level_labels(tables);
    TokenIds all = tables.ids;
    all.insert(tables.added.begin(), tables.added.end());
    std::vector<std::string> pieces = tokens_by_id(all);
    for (std::string& piece : pieces) piece = sentence_piece(std::move(piece));
    return {std::move(pieces), {}, nullptr};
}

}  // namespace

ReadTokenizer parse_tokenizer_json(std::string_view json) {
    const Json file = parse_json(json, message("a tokenizer as Hugging Face writes it"));
    const Json& model = at(file, "model");
    if (!model.is_object()) throw Error("model: missing, expected an object with a vocabulary");
    ByteLevelTables tables;
    tables.ids = naming("model.vocab", [&] { return read_ids(at(model, "vocab")); });
    tables.added = naming("added_tokens", [&] { return read_added(at(file, "added_tokens"), tables.ids); });
    tables.beginning = read_beginning(at(file, "post_processor"), tables);
    if (Sentence why = other_than_gpt2(file); !why.empty()) return {labels(file, tables), std::move(why)};
    tables.merges = naming("model.merges", [&] { return read_merges(at(model, "merges")); });
    return {byte_level_tokenizer(tables), {}};
}

}  // namespace decoderscope
