#include "engine/model/tokenizer/tokenizer.h"

#include "engine/error.h"

namespace decoderscope {

Tokenizer::Tokenizer(std::vector<std::string> pieces, SpecialTokens special, Cut cut, bool writes_end)
    : vocabulary_(
          std::make_shared<const Vocabulary>(Vocabulary{std::move(pieces), special, std::move(cut), writes_end})) {}

std::string Tokenizer::piece(Index id) const { return has_piece(id) ? stored(id) : std::to_string(id); }

std::vector<Index> Tokenizer::encode(std::string_view text) const {
    if (!can_encode()) throw Error("the model's vocabulary can't cut a text into tokens, expected token ids");
    std::vector<Index> ids;
    if (const auto beginning = special().beginning) ids.push_back(*beginning);
    for (const Index id : vocabulary_->cut(text)) ids.push_back(id);
    return ids;
}

std::string Tokenizer::decode(std::span<const Index> ids) const {
    SpecialTokens unseen = special();
    if (vocabulary_ && vocabulary_->writes_end) unseen.end.reset();
    std::string text;
    for (const Index id : ids)
        if (id != unseen.pad && id != unseen.beginning && id != unseen.end) text += piece(id);
    return text;
}

}  // namespace decoderscope
