#include "engine/tokenizer/pipeline.h"

#include "engine/base/error.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/unicode.h"
#include "engine/tokenizer/vocabulary.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace decoderscope::tokenizer {

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

// Whether a word's character is at the end of one text or at the beginning of another.
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

using IdOf = std::function<std::optional<Index>(std::string_view)>;

// "special_tokens" gives the ids of a template's name: often one.
std::vector<Index> ids_of(const std::string& name, const Json* special, const IdOf& id_of) {
    const Json entry = special != nullptr && special->is_object() ? special->value(name, Json()) : Json();
    const Json ids = entry.is_object() ? entry.value("ids", Json()) : Json();
    std::vector<Index> found;
    for (const Json& id : ids.is_array() ? ids : Json::array()) found.push_back(token_id(id, name));
    if (found.empty()) {
        const std::optional<Index> id = id_of(name);
        if (!id) throw Error("\"{token}\" is not in the vocabulary", {{"token", name}});
        found.push_back(*id);
    }
    return found;
}

// {"SpecialToken": {"id": "<s>"}} and {"Sequence": {"id": "A"}}, in order.
TemplateTokens read_single(JsonObject& json, const IdOf& id_of) {
    const Json& items = json.list("single");
    const Json* special = json.find("special_tokens");
    static_cast<void>(json.find("pair"));  // for two texts
    TemplateTokens tokens;
    bool text = false;
    for (const Json& item : items) {
        JsonObject object(item, json.where() + "single.");
        if (object.find("SpecialToken") != nullptr) {
            JsonObject token = object.object("SpecialToken");
            const std::vector<Index> ids =
                naming(json.where() + "single", [&] { return ids_of(token.text("id"), special, id_of); });
            std::vector<Index>& side = text ? tokens.behind : tokens.before;
            side.insert(side.end(), ids.begin(), ids.end());
        } else if (JsonObject sequence = object.object("Sequence");
                   sequence.text("id") != "A" || std::exchange(text, true)) {
            json.fail("single", message("expected the sequence A once"));
        }
    }
    if (!text) json.fail("single", message("expected the sequence A once"));
    return tokens;
}

// ["</s>", 2]
Index pair_id(JsonObject& json, const char* key) {
    const Json& pair = json.list(key);
    if (pair.size() != 2 || !pair[0].is_string()) json.fail(key, message("expected a token and its id"));
    return naming(json.where() + key, [&] { return token_id(pair[1], pair[0].get<std::string>()); });
}

TemplateTokens read_ends(JsonObject& json) {
    static_cast<void>(json.find("trim_offsets"));
    static_cast<void>(json.find("add_prefix_space"));
    return {.before = {pair_id(json, "cls")}, .behind = {pair_id(json, "sep")}};
}

std::vector<AddedToken> found_in(const std::vector<AddedToken>& added, bool normalized, const Normalizer& normalizer) {
    std::vector<AddedToken> found;
    for (const AddedToken& token : added) {
        if (token.normalized != normalized) continue;
        found.push_back(token);
        if (!normalized) continue;
        TextSpan content{token.content, true};
        normalize(normalizer, content);
        found.back().content = std::move(content.text);
    }
    return found;
}

// A word that comes again is cut once. Words are short; a text without spaces is not worth remembering.
constexpr std::size_t kLongestRemembered = 256;

class RememberedWords {
public:
    explicit RememberedWords(const TokenModel& model) : model_(model) {}

    void add(const std::string& word, std::vector<Index>& ids) {
        if (word.size() > kLongestRemembered) return cut(word, ids);
        const auto [known, fresh] = words_.try_emplace(word);
        if (fresh) cut(word, known->second);
        ids.insert(ids.end(), known->second.begin(), known->second.end());
    }

private:
    void cut(std::string_view word, std::vector<Index>& ids) const {
        std::visit([&](const auto& model) { model.encode(word, ids); }, model_);
    }

    const TokenModel& model_;
    std::unordered_map<std::string, std::vector<Index>> words_;
};

}  // namespace

std::vector<AddedToken> read_added_tokens(const nlohmann::json& list, const TokenIds& ids) {
    std::vector<AddedToken> tokens;
    if (list.is_null()) return tokens;
    if (!list.is_array()) throw Error("expected a list of tokens");
    std::set<std::string> contents;
    for (const nlohmann::json& entry : list) {
        tokens.push_back(read_token(entry, ids));
        if (!contents.insert(tokens.back().content).second)
            throw Error("\"{text}\" is given twice, expected it once",
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

TemplateTokens read_template(const Json& json, const std::string& where, const IdOf& id_of) {
    const auto read_step = [&](const std::string& type, JsonObject& step) -> TemplateTokens {
        if (type == "TemplateProcessing") return read_single(step, id_of);
        if (type == "RobertaProcessing" || type == "BertProcessing") return read_ends(step);
        if (type != "ByteLevel") unknown_type(step, type);
        for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) static_cast<void>(step.find(key));
        return {};
    };
    TemplateTokens all;
    for (const TemplateTokens& one : read_steps<TemplateTokens>(json, where, "processors", read_step)) {
        all.before.insert(all.before.begin(), one.before.begin(), one.before.end());
        all.behind.insert(all.behind.end(), one.behind.begin(), one.behind.end());
    }
    return all;
}

TextCutter::TextCutter(const std::vector<AddedToken>& added, Normalizer normalizer, PreTokenizer pre_tokenizer,
                       TokenModel model)
    : literal_(found_in(added, false, normalizer)),
      normalized_(found_in(added, true, normalizer)),
      normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      model_(std::move(model)) {}

std::vector<Index> TextCutter::operator()(std::string_view text) const {
    if (!is_utf8(text)) throw Error("the text is not UTF-8");
    std::vector<Index> ids;
    RememberedWords words(model_);
    const auto cut = [&](std::string_view whole, bool begins_text) {
        TextSpan stretch{std::string(whole), begins_text};
        normalize(normalizer_, stretch);
        for (const AddedTokens::Part& part : normalized_.parts_of(stretch.text)) {
            const Span span = part.span;
            if (part.id) {
                ids.push_back(*part.id);
                continue;
            }
            for (const TextSpan& word : pre_tokenized(
                     pre_tokenizer_,
                     {stretch.text.substr(span.begin, span.end - span.begin), stretch.begins_text && span.begin == 0}))
                words.add(word.text, ids);
        }
    };
    for (const AddedTokens::Part& part : literal_.parts_of(text)) {
        if (part.id)
            ids.push_back(*part.id);
        else
            cut(text.substr(part.span.begin, part.span.end - part.span.begin), part.span.begin == 0);
    }
    return ids;
}

DecodedTokens tokens_of(const TokenIds& ids, const std::vector<AddedToken>& added) {
    TokenIds all = ids;
    for (const AddedToken& token : added) all.emplace(token.content, token.id);
    DecodedTokens tokens;
    for (std::string& token : tokens_by_id(all)) tokens.push_back({std::move(token)});
    for (const AddedToken& token : added) tokens[static_cast<std::size_t>(token.id)].literal = true;
    return tokens;
}

std::vector<std::string> shown_pieces(const DecodedTokens& tokens, const TokenDecoder& decoder) {
    std::vector<std::string> pieces;
    for (const DecodedToken& token : tokens) pieces.push_back(decoder.shown(token));
    return pieces;
}

Tokenizer pipeline_tokenizer(DecodedTokens tokens, TextCutter cutter, TemplateTokens around, TokenDecoder decoder,
                             SpecialTokens special) {
    std::vector<std::string> pieces = shown_pieces(tokens, decoder);
    const auto shared = std::make_shared<const DecodedTokens>(std::move(tokens));
    const auto known = [shared](Index id) {
        return id >= 0 && id < static_cast<Index>(shared->size()) &&
               !(*shared)[static_cast<std::size_t>(id)].text.empty();
    };
    const auto join = [shared, known, decoder = std::move(decoder)](std::span<const Index> ids) {
        DecodedTokens row;
        for (const Index id : ids)
            row.push_back(known(id) ? (*shared)[static_cast<std::size_t>(id)] : DecodedToken{std::to_string(id), true});
        return decoder.text_of(std::move(row));
    };
    const auto recognises = [shared, known](Index id) {
        return known(id) && (*shared)[static_cast<std::size_t>(id)].literal;
    };
    return {std::move(pieces), special,
            TextCoding{[cutter = std::make_shared<const TextCutter>(std::move(cutter))](std::string_view text) {
                           return (*cutter)(text);
                       },
                       join, std::move(around.before), std::move(around.behind), recognises}};
}

}  // namespace decoderscope::tokenizer
