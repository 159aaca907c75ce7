#include "engine/model/tokenizer/pipeline.h"

#include "engine/error.h"
#include "engine/model/tokenizer/unicode.h"

#include <algorithm>
#include <unordered_map>

namespace decoderscope {

namespace {

std::vector<AddedToken> found_in(const std::vector<AddedToken>& added, bool normalized, const Normalizer& normalizer) {
    std::vector<AddedToken> found;
    for (const AddedToken& token : added) {
        if (token.normalized != normalized) continue;
        found.push_back(token);
        if (!normalized) continue;
        Stretch content{token.content, true};
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

TextCutter::TextCutter(const std::vector<AddedToken>& added, Normalizer normalizer, PreTokenizer pre_tokenizer,
                       TokenModel model)
    : literal_(found_in(added, false, normalizer)),
      normalized_(found_in(added, true, normalizer)),
      normalizer_(std::move(normalizer)),
      pre_tokenizer_(std::move(pre_tokenizer)),
      model_(std::move(model)) {}

std::vector<Index> TextCutter::operator()(std::string_view text) const {
    if (!is_utf8(text)) throw Error("the text is no UTF-8");
    std::vector<Index> ids;
    RememberedWords words(model_);
    const auto cut = [&](std::string_view whole, bool begins_text) {
        Stretch stretch{std::string(whole), begins_text};
        normalize(normalizer_, stretch);
        for (const AddedTokens::Part& part : normalized_.parts_of(stretch.text)) {
            const Span span = part.span;
            if (part.id) {
                ids.push_back(*part.id);
                continue;
            }
            for (const Stretch& word : pre_tokenized(
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

}  // namespace decoderscope
