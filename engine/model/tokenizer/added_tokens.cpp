#include "engine/model/tokenizer/added_tokens.h"

#include "engine/error.h"
#include "engine/model/tokenizer/unicode.h"

#include <algorithm>

namespace decoderscope {

namespace {

AddedToken read_token(const nlohmann::json& entry, const TokenIds& ids) {
    if (!entry.is_object()) throw Error("expected a list of tokens, each with an id and a content");
    AddedToken token;
    token.content = entry.value("content", nlohmann::json()).is_string() ? entry["content"].get<std::string>() : "";
    if (token.content.empty()) throw Error("expected a list of tokens, each with an id and a content");
    token.id = token_id(entry.value("id", nlohmann::json()), token.content);
    return naming("\"" + token.content.substr(0, 100) + "\"", [&] {
        JsonObject keys(entry, "");
        static_cast<void>(keys.find("id"));
        static_cast<void>(keys.find("content"));
        token.special = keys.boolean("special", false);
        token.normalized = keys.boolean("normalized", !token.special);
        token.single_word = keys.boolean("single_word", false);
        token.left_spaces = keys.boolean("lstrip", false);
        token.right_spaces = keys.boolean("rstrip", false);
        keys.finish();
        const auto known = ids.find(token.content);
        if (known != ids.end() && known->second != token.id) throw Error("has another id elsewhere, expected one");
        return token;
    });
}

// Whether a word's character stands at the end of one text or at the beginning of another.
bool ends_with_word(std::string_view text) {
    return !text.empty() && is_word_character(first_code_point(text.substr(text.size() - bytes_of_last(text))).code);
}
bool begins_with_word(std::string_view text) { return !text.empty() && is_word_character(first_code_point(text).code); }

std::size_t without_spaces_at_end(std::string_view text) {
    while (!text.empty()) {
        const std::size_t last = bytes_of_last(text);
        if (!is_white_space(first_code_point(text.substr(text.size() - last)).code)) break;
        text.remove_suffix(last);
    }
    return text.size();
}

std::size_t spaces_at_beginning(std::string_view text) {
    std::size_t bytes = 0;
    while (bytes < text.size() && is_white_space(first_code_point(text.substr(bytes)).code))
        bytes += first_code_point(text.substr(bytes)).bytes;
    return bytes;
}

}  // namespace

std::vector<AddedToken> read_added_tokens(const nlohmann::json& list, const TokenIds& ids) {
    std::vector<AddedToken> tokens;
    if (list.is_null()) return tokens;
    if (!list.is_array()) throw Error("expected a list of tokens");
    std::set<std::string> contents;
    for (const nlohmann::json& entry : list) {
        tokens.push_back(read_token(entry, ids));
        if (!contents.insert(tokens.back().content).second)
            throw Error("\"{text}\" is there twice, expected it once",
                        {{"text", tokens.back().content.substr(0, 100)}});
    }
    return tokens;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens) {
    for (const AddedToken& token : tokens) {
        if (token.content.empty()) continue;
        tokens_.emplace(token.content, token);
        lengths_.insert(token.content.size());
    }
}

AddedTokens::Found AddedTokens::next(std::string_view text, std::size_t from) const {
    for (std::size_t at = from; at < text.size() && !tokens_.empty(); ++at) {
        const auto begins = tokens_.lower_bound(text.substr(at, 1));
        if (begins == tokens_.end() || begins->first[0] != text[at]) continue;
        for (const std::size_t length : lengths_) {
            if (length > text.size() - at) continue;
            if (const auto found = tokens_.find(text.substr(at, length)); found != tokens_.end())
                return {at, &found->second};
        }
    }
    return {};
}

std::vector<AddedTokens::Part> AddedTokens::parts_of(std::string_view text) const {
    std::vector<Part> parts;
    std::size_t done = 0;
    for (Found found = next(text, 0); found.token != nullptr;
         found = next(text, found.at + found.token->content.size())) {
        Span span = {found.at, found.at + found.token->content.size()};
        const std::string_view before = text.substr(0, span.begin), behind = text.substr(span.end);
        if (found.token->single_word && (ends_with_word(before) || begins_with_word(behind))) continue;
        if (found.token->left_spaces) span.begin = std::max(without_spaces_at_end(before), done);
        if (found.token->right_spaces) span.end += spaces_at_beginning(behind);
        if (done < span.begin) parts.push_back({{done, span.begin}, std::nullopt});
        parts.push_back({span, found.token->id});
        done = span.end;
    }
    if (done < text.size()) parts.push_back({{done, text.size()}, std::nullopt});
    return parts;
}

}  // namespace decoderscope
