#include "engine/tokenizer/gguf.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::tokenizer {

namespace {

enum class TokenType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Token {
    std::string text;
    TokenType type = TokenType::normal;
    double score = 0.0;
};

// A text or a flag of the metadata; `otherwise` if there is none.
std::string text_in(const Json& metadata, const char* key, const char* otherwise) {
    const auto found = metadata.find(key);
    return found != metadata.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

bool flag_in(const Json& metadata, const char* key, bool otherwise) {
    const auto found = metadata.find(key);
    return found != metadata.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::vector<Token> tokens_in(const Json& metadata) {
    std::vector<Token> tokens;
    const auto texts = metadata.find("tokenizer.ggml.tokens");
    if (texts == metadata.end() || !texts->is_array()) return tokens;
    const auto at = [&](const char* key, std::size_t i) {
        const auto list = metadata.find(key);
        const bool there = list != metadata.end() && list->is_array() && i < list->size() && (*list)[i].is_number();
        return there ? (*list)[i].get<double>() : 0.0;
    };
    for (std::size_t i = 0; i < texts->size(); ++i) {
        if (!(*texts)[i].is_string()) throw Error("tokenizer.ggml.tokens: expected a list of texts");
        const double type = at("tokenizer.ggml.token_type", i);
        const bool known = type >= 1.0 && type <= 6.0;
        tokens.push_back({(*texts)[i].get<std::string>(),
                          known ? static_cast<TokenType>(static_cast<int>(type)) : TokenType::normal,
                          at("tokenizer.ggml.scores", i)});
    }
    return tokens;
}

// A token that is cut out of a text before anything else.
bool is_added(const Token& token) { return token.type == TokenType::control || token.type == TokenType::user_defined; }

Json added_tokens(const std::vector<Token>& tokens) {
    Json added = Json::array();
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        const bool unknown = tokens[id].type == TokenType::unknown;
        if (!is_added(tokens[id]) && !unknown) continue;
        added.push_back({{"id", id},
                         {"content", tokens[id].text},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", tokens[id].type != TokenType::user_defined}});
    }
    return added;
}

Json vocabulary_of(const std::vector<Token>& tokens) {
    Json vocabulary = Json::object();
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (!is_added(tokens[id])) vocabulary[tokens[id].text] = id;
    return vocabulary;
}

constexpr const char* kSequence = "Sequence";  // not a message: tokenizer.json's

const OrderedJson& tokenizer_table() { return asset_table("gguf_tokenizers"); }

// Byte-level BPE with merges. How a text is split before, "tokenizer.ggml.pre" says by the name that llama.cpp has for
// it.
Json byte_level(const Json& metadata, const std::vector<Token>& tokens) {
    const std::string pre = text_in(metadata, "tokenizer.ggml.pre", "gpt-2");
    const auto merges = metadata.find("tokenizer.ggml.merges");
    Json json = tokenizer_table()["byte_level"];
    if (pre == "qwen2") json["normalizer"] = {{"type", "NFC"}};
    if (const auto known = tokenizer_table()["patterns"].find(pre); known != tokenizer_table()["patterns"].end()) {
        json["pre_tokenizer"] = tokenizer_table()["split"];
        json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = *known;  // not a message: tokenizer.json's
    } else if (pre != "gpt-2" && pre != "gpt2") {
        json["pre_tokenizer"] = {{"type", "tokenizer.ggml.pre = " + pre}};
    }
    json["model"]["ignore_merges"] = pre.starts_with("llama");
    json["model"]["vocab"] = vocabulary_of(tokens);
    json["model"]["merges"] = merges != metadata.end() ? Json(*merges) : Json::array();
    return json;
}

// Where a UTF-8 character begins.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// The merges that scores stand for: of each token every pair of tokens that it can be joined from, the best score
// first.
Json merges_by_score(const std::vector<Token>& tokens) {
    std::map<std::string_view, std::size_t> ids;
    std::vector<std::size_t> order;
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (tokens[id].type == TokenType::normal) {
            ids.emplace(tokens[id].text, id);
            order.push_back(id);
        }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return tokens[a].score > tokens[b].score; });
    Json merges = Json::array();
    for (const std::size_t id : order) {
        const std::string_view text = tokens[id].text;
        for (std::size_t at = 1; at < text.size(); ++at)
            if (begins_character(text[at]) && ids.contains(text.substr(0, at)) && ids.contains(text.substr(at)))
                merges.push_back({text.substr(0, at), text.substr(at)});
    }
    return merges;
}

// SentencePiece's BPE, whose merges are scores.
Json by_scores(const Json& metadata, const std::vector<Token>& tokens) {
    Json json = tokenizer_table()["by_scores"];
    if (!flag_in(metadata, "tokenizer.ggml.add_space_prefix", true)) {
        json["normalizer"]["normalizers"].erase(0);
        json["decoder"]["decoders"].erase(3);
    }
    Json& model = json["model"];
    model["unk_token"] = nullptr;
    for (const Token& token : tokens)
        if (token.type == TokenType::unknown) model["unk_token"] = token.text;
    model["vocab"] = vocabulary_of(tokens);
    model["merges"] = merges_by_score(tokens);
    return json;
}

// What comes before and after a text.
Json around(const Json& metadata, const std::vector<Token>& tokens, bool usually_begins) {
    Json single = Json::array(), special = Json::object();
    const auto add = [&](const char* whether, const char* which, bool usual) {
        const auto id = metadata.find(which);
        if (!flag_in(metadata, whether, usual) || id == metadata.end() || !id->is_number_unsigned()) return;
        const auto at = id->get<std::size_t>();
        if (at >= tokens.size()) return;
        const std::string& text = tokens[at].text;
        single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
        special[text] = {{"id", text}, {"ids", {at}}, {"tokens", {text}}};
    };
    add("tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", usually_begins);
    single.push_back({{kSequence, {{"id", "A"}, {"type_id", 0}}}});
    add("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false);
    if (special.empty()) return {};
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", Json::array()}, {"special_tokens", special}};
}

// As llama2.c writes a special piece: "\n<s>\n".
std::string_view without_line_ends(std::string_view text) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

}  // namespace

Json tokenizer_of_gguf(const Json& metadata) {
    const std::vector<Token> tokens = tokens_in(metadata);
    if (tokens.empty()) return {};
    const std::string kind = text_in(metadata, "tokenizer.ggml.model", "");
    // If the file doesn't say how a text is joined, tokens are only labelled.
    const char* needed = kind == "gpt2" ? "tokenizer.ggml.merges" : "tokenizer.ggml.scores";
    const auto found = metadata.find(needed);
    const bool joins = found != metadata.end() && found->is_array();
    Json json;
    if (kind == "gpt2" && joins)
        json = byte_level(metadata, tokens);
    else if (kind == "llama" && joins)
        json = by_scores(metadata, tokens);
    else if (kind == "gpt2" || kind == "llama")
        json = {{"model", {{"type", kind + " without " + needed}, {"vocab", vocabulary_of(tokens)}}}};
    else
        json = {{"model", {{"type", kind}, {"vocab", vocabulary_of(tokens)}}}};
    const std::string pre = text_in(metadata, "tokenizer.ggml.pre", "");
    json["added_tokens"] = added_tokens(tokens);
    json["post_processor"] = around(metadata, tokens, kind == "llama" || pre.starts_with("llama"));
    return json;
}

Json metadata_of_pieces(const Json& list) {
    Json tokens = Json::array(), scores = Json::array(), types = Json::array(), metadata;
    std::set<std::string> seen;
    for (const Json& item : list) {
        const Json score = item.is_object() ? item.value("score", Json()) : Json();
        // Ranks are whole numbers; the scores of SentencePiece's other kind, its unigram model, are logarithms.
        if (!score.is_number() || score.get<double>() > 0.0 || std::trunc(score.get<double>()) != score.get<double>())
            return {};
        std::string text = item["piece"].get<std::string>();
        TokenType type = TokenType::normal;
        if (const std::string_view name = without_line_ends(text); name == "<s>" || name == "</s>") {
            if (name == "<s>") metadata["tokenizer.ggml.bos_token_id"] = tokens.size();
            text = std::string(name);
            type = TokenType::control;
        } else if (text == "<unk>") {
            type = TokenType::unknown;
        } else if (text.size() == 6 && text.starts_with("<0x")) {
            type = TokenType::byte;
        }
        for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at))
            text.replace(at, 1, "▁");
        if (!seen.insert(text).second) return {};
        tokens.push_back(text);
        scores.push_back(score);
        types.push_back(static_cast<int>(type));
    }
    // All 0: nothing says which pieces are joined first.
    if (std::ranges::all_of(scores, [](const Json& score) { return score == 0.0; })) return {};
    metadata["tokenizer.ggml.model"] = "llama";
    metadata["tokenizer.ggml.tokens"] = std::move(tokens);
    metadata["tokenizer.ggml.scores"] = std::move(scores);
    metadata["tokenizer.ggml.token_type"] = std::move(types);
    return metadata;
}

}  // namespace decoderscope::tokenizer
