#include "engine/tokenizer/vocabulary.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace decoderscope::tokenizer {

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
            throw Error("tokens: \"{token}\" is given twice", {{"token", token}});
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
    std::vector<std::string> unknown;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        if (bytes == 0) throw Error("the text is not UTF-8");
        const auto found = ids.find(text.substr(0, bytes));
        if (found != ids.end())
            cut.push_back(found->second);
        else if (const std::string character(text.substr(0, bytes));
                 std::ranges::find(unknown, character) == unknown.end())
            unknown.push_back(character);
        text.remove_prefix(bytes);
    }
    if (!unknown.empty()) throw NotInVocabulary(std::move(unknown));
    return cut;
}

constexpr unsigned kOthersFrom = 0x100;

constexpr bool shows_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The code point that each byte is written as.
constexpr std::array<unsigned, 256> make_codes() {
    std::array<unsigned, 256> codes{};
    unsigned next = kOthersFrom;
    for (unsigned byte = 0; byte < 256; ++byte) codes[byte] = shows_itself(byte) ? byte : next++;
    return codes;
}

constexpr std::array<unsigned, 256> kCodes = make_codes();
constexpr unsigned kCodesEnd = kOthersFrom + 68;

// The byte of each code point; −1 if none.
constexpr std::array<int, kCodesEnd> make_bytes() {
    std::array<int, kCodesEnd> bytes{};
    bytes.fill(-1);
    for (unsigned byte = 0; byte < 256; ++byte) bytes[kCodes[byte]] = static_cast<int>(byte);
    return bytes;
}

constexpr std::array<int, kCodesEnd> kBytes = make_bytes();

}  // namespace

Index token_id(const nlohmann::json& id, const std::string& token) {
    const bool fits = id.is_number_integer() && id >= 0 && id < limits::kTokenIds;
    if (!fits)
        throw Error(
            "\"{text}\": id {id}, expected a whole number from 0 to {highest}",
            {{"text", token.substr(0, 100)}, {"id", id.dump().substr(0, 40)}, {"highest", limits::kTokenIds - 1}});
    return id.get<Index>();
}

TokenIds token_ids(const nlohmann::json& object) {
    if (!object.is_object() || object.empty()) throw Error("expected an object of tokens and their ids");
    TokenIds ids;
    for (const auto& [token, id] : object.items()) ids.emplace(token, token_id(id, token));
    static_cast<void>(tokens_by_id(ids));  // each id once
    return ids;
}

std::vector<std::string> tokens_by_id(const TokenIds& ids) {
    Index last = -1;
    for (const auto& [token, id] : ids) last = std::max(last, id);
    std::vector<const std::string*> found(static_cast<std::size_t>(last + 1));
    for (const auto& [token, id] : ids) {
        const std::string*& place = found[static_cast<std::size_t>(id)];
        if (place != nullptr)
            throw Error("id {id} is both \"{other}\" and \"{token}\", expected one token per id",
                        {{"id", id}, {"other", *place}, {"token", token}});
        place = &token;
    }
    std::vector<std::string> tokens;
    for (const std::string* token : found) tokens.push_back(token != nullptr ? *token : std::string());
    return tokens;
}

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

Tokenizer labels_of(const nlohmann::json& list) {
    if (!list.is_array()) throw Error("expected a JSON list of pieces, one per token");
    std::vector<std::string> pieces;
    for (const nlohmann::json& item : list) {
        const nlohmann::json piece = item.is_object() ? item.value("piece", nlohmann::json()) : item;
        if (!piece.is_string())
            throw Error("piece {number}: expected a string, or an object with a \"piece\"",
                        {{"number", pieces.size()}});
        pieces.push_back(piece.get<std::string>());
    }
    return {std::move(pieces), {}, nullptr};
}

void WordLevel::encode(std::string_view word, std::vector<Index>& ids) const {
    auto found = ids_.find(word);
    if (found == ids_.end()) found = ids_.find(unknown_);
    if (found == ids_.end()) throw Error("the vocabulary has no token for \"{character}\"", {{"character", word}});
    ids.push_back(found->second);
}

std::string written_byte(unsigned char byte) {
    const unsigned code = kCodes[byte];
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xC0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3FU))};
}

std::optional<std::string> bytes_written_as(std::string_view written) {
    std::string bytes;
    for (std::size_t at = 0; at < written.size(); ++at) {
        unsigned code = static_cast<unsigned char>(written[at]);
        if (code >= 0x80) {  // every character of the alphabet takes at most two bytes
            if ((code & 0xE0U) != 0xC0U || at + 1 == written.size()) return std::nullopt;
            code = ((code & 0x1FU) << 6U) | (static_cast<unsigned char>(written[++at]) & 0x3FU);
        }
        if (code >= kCodesEnd || kBytes[code] < 0) return std::nullopt;
        bytes += static_cast<char>(kBytes[code]);
    }
    return bytes;
}

std::string byte_token(unsigned char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {'<', '0', 'x', digits[byte >> 4U], digits[byte & 15U], '>'};
}

std::optional<unsigned char> byte_of_token(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
    unsigned char byte = 0;
    const char* end = token.data() + 5;
    return std::from_chars(token.data() + 3, end, byte, 16).ptr == end ? std::optional(byte) : std::nullopt;
}

}  // namespace decoderscope::tokenizer
