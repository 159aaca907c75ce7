#include "engine/tokenizer/tokenizer.h"

#include "engine/base/error.h"

#include <algorithm>
#include <utility>

namespace decoderscope::tokenizer {

namespace {

std::string quoted(const std::vector<std::string>& characters) {
    std::string all;
    for (const std::string& character : characters) all += (all.empty() ? "\"" : ", \"") + character + "\"";
    return all;
}

bool begins_with(std::span<const Index> ids, std::span<const Index> with) {
    return ids.size() >= with.size() && std::equal(with.begin(), with.end(), ids.begin());
}

}  // namespace

NotInVocabulary::NotInVocabulary(std::vector<std::string> characters)
    : Error(message_n("{characters} is not in the vocabulary", "{characters} are not in the vocabulary",
                      characters.size(), {{"characters", quoted(characters)}})),
      characters_(std::make_shared<const std::vector<std::string>>(std::move(characters))) {}

Tokenizer::Tokenizer(std::vector<std::string> pieces, SpecialTokens special, Cut cut)
    : Tokenizer(std::move(pieces), special, TextCoding{.cut = std::move(cut)}) {}

Tokenizer::Tokenizer(std::vector<std::string> pieces, SpecialTokens special, TextCoding coding) {
    if (coding.before.empty() && special.beginning) coding.before = {*special.beginning};
    if (!special.beginning && !coding.before.empty()) special.beginning = coding.before.front();
    vocabulary_ = std::make_shared<const Vocabulary>(Vocabulary{std::move(pieces), special, std::move(coding)});
}

Tokenizer Tokenizer::beginning_with(Index token) const {
    if (!vocabulary_) return *this;
    Vocabulary other = *vocabulary_;
    other.special.beginning = token;
    if (!begins_with(other.coding.before, std::span(&token, 1)))
        other.coding.before.insert(other.coding.before.begin(), token);
    other.coding.behind.clear();
    Tokenizer tokenizer;
    tokenizer.vocabulary_ = std::make_shared<const Vocabulary>(std::move(other));
    return tokenizer;
}

Tokenizer Tokenizer::ending_with(std::vector<Index> tokens) const {
    if (!vocabulary_ || tokens.empty()) return *this;
    Vocabulary other = *vocabulary_;
    other.special.end = tokens.front();
    tokens.erase(tokens.begin());
    other.special.other_ends = std::move(tokens);
    Tokenizer tokenizer;
    tokenizer.vocabulary_ = std::make_shared<const Vocabulary>(std::move(other));
    return tokenizer;
}

std::string Tokenizer::piece(Index id) const { return has_piece(id) ? stored(id) : std::to_string(id); }

std::vector<Index> Tokenizer::cut(std::string_view text) const {
    if (!can_encode()) throw Error("the model's vocabulary can't tokenize text, expected token ids");
    return vocabulary_->coding.cut(text);
}

std::vector<Index> Tokenizer::encode(std::string_view text) const {
    std::vector<Index> ids = cut(text);
    const TextCoding& coding = vocabulary_->coding;
    ids.insert(ids.begin(), coding.before.begin(), coding.before.end());
    ids.insert(ids.end(), coding.behind.begin(), coding.behind.end());
    return ids;
}

bool Tokenizer::is_special(Index id) const {
    if (!has_piece(id)) return false;
    const auto& [pieces, special, coding] = *vocabulary_;
    const auto among = [id](const std::vector<Index>& ids) { return std::ranges::find(ids, id) != ids.end(); };
    // What is written by its name may be a run of spaces, which is text.
    const bool named = recognises(id) && stored(id).find_first_not_of(" \t\r\n") != std::string::npos;
    return id == special.pad || id == special.beginning || special.ends_at(id) || among(coding.before) ||
           among(coding.behind) || named;
}

std::string Tokenizer::decode(std::span<const Index> ids) const {
    SpecialTokens unseen = special();
    static const TextCoding none;
    const TextCoding& coding = vocabulary_ ? vocabulary_->coding : none;
    if (coding.recognises) {
        if (unseen.end && coding.recognises(*unseen.end)) unseen.end.reset();
        std::erase_if(unseen.other_ends, coding.recognises);
    }
    if (coding.join) {  // it can write the tokens around a text elsewhere in it
        if (begins_with(ids, coding.before)) ids = ids.subspan(coding.before.size());
        const std::span<const Index> behind = coding.behind;
        if (ids.size() >= behind.size() && begins_with(ids.last(behind.size()), behind))
            ids = ids.first(ids.size() - behind.size());
        unseen.beginning.reset();
    }
    std::vector<Index> seen;
    for (const Index id : ids)
        if (id != unseen.pad && id != unseen.beginning && !unseen.ends_at(id)) seen.push_back(id);
    if (coding.join) return coding.join(seen);
    std::string text;
    for (const Index id : seen) text += piece(id);
    return text;
}

}  // namespace decoderscope::tokenizer
