#include "engine/model/tokenizer/character_vocabulary.h"

#include "engine/error.h"
#include "engine/json.h"

#include <map>
#include <set>

namespace decoderscope {

namespace {

using Ids = std::map<std::string, Index, std::less<>>;

// How many bytes the character at the front of a text takes; 0 if it is not UTF-8.
std::size_t character_bytes(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t bytes = first < 0x80             ? 1
                              : (first & 0xE0) == 0xC0 ? 2
                              : (first & 0xF0) == 0xE0 ? 3
                              : (first & 0xF8) == 0xF0 ? 4
                                                       : 0;
    if (bytes > text.size()) return 0;
    for (std::size_t i = 1; i < bytes; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
    return bytes;
}

std::vector<std::string> token_list(const nlohmann::json& vocabulary) {
    const auto found = vocabulary.find("tokens");
    if (found == vocabulary.end() || !found->is_array() || found->empty())
        throw Error("tokens: expected a list of characters");
    std::vector<std::string> tokens;
    for (const nlohmann::json& token : *found) {
        if (!token.is_string() || token.get_ref<const std::string&>().empty())
            throw Error("tokens: entry {tokens}, expected a character", {{"tokens", tokens.size()}});
        tokens.push_back(token.get<std::string>());
    }
    return tokens;
}

Ids ids_of(const std::vector<std::string>& tokens) {
    Ids ids;
    for (const std::string& token : tokens)
        if (!ids.emplace(token, static_cast<Index>(ids.size())).second)
            throw Error("tokens: \"{token}\" stands there twice", {{"token", token}});
    return ids;
}

std::optional<Index> special_token(const nlohmann::json& vocabulary, const char* key, const Ids& ids) {
    const auto found = vocabulary.find(key);
    if (found == vocabulary.end() || found->is_null()) return std::nullopt;
    if (!found->is_string() || !ids.contains(found->get_ref<const std::string&>()))
        throw Error("{key}: expected one of the tokens", {{"key", key}});
    return ids.at(found->get<std::string>());
}

void check_vocabulary_keys(const nlohmann::json& vocabulary) {
    static const std::set<std::string> known = {"tokens", "pad", "beginning", "end"};
    for (const auto& [key, value] : vocabulary.items())
        if (!known.contains(key))
            throw Error("\"{key}\": unknown key, expected one of tokens, pad, beginning, end", {{"key", key}});
}

// Only single characters can be written; a special token is never part of a text.
Ids writable(const Ids& ids, const SpecialTokens& special) {
    Ids characters;
    for (const auto& [token, id] : ids) {
        if (id == special.pad || id == special.beginning || id == special.end) continue;
        if (character_bytes(token) != token.size())
            throw Error("tokens: \"{token}\", expected one character", {{"token", token}});
        characters.emplace(token, id);
    }
    return characters;
}

std::vector<Index> cut_characters(std::string_view text, const Ids& ids) {
    std::vector<Index> cut;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        if (bytes == 0) throw Error("the text is no UTF-8");
        const auto found = ids.find(text.substr(0, bytes));
        if (found == ids.end()) throw Error("\"{text}\" is not in the vocabulary", {{"text", text.substr(0, bytes)}});
        cut.push_back(found->second);
        text.remove_prefix(bytes);
    }
    return cut;
}

}  // namespace

Tokenizer parse_character_vocabulary(std::string_view json) {
    const nlohmann::json vocabulary = parse_json(json, message("a vocabulary of characters"));
    if (!vocabulary.is_object()) throw Error("expected a JSON object with the key tokens");
    check_vocabulary_keys(vocabulary);
    std::vector<std::string> tokens = token_list(vocabulary);
    const Ids ids = ids_of(tokens);
    const SpecialTokens special = {.pad = special_token(vocabulary, "pad", ids),
                                   .beginning = special_token(vocabulary, "beginning", ids),
                                   .end = special_token(vocabulary, "end", ids)};
    return {std::move(tokens), special,
            [characters = writable(ids, special)](std::string_view text) { return cut_characters(text, characters); }};
}

}  // namespace decoderscope
