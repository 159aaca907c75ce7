#pragma once

#include "engine/model/tokenizer/added_tokens.h"
#include "engine/model/tokenizer/byte_pairs.h"
#include "engine/model/tokenizer/normalizer.h"
#include "engine/model/tokenizer/pre_tokenizer.h"
#include "engine/model/tokenizer/template_tokens.h"
#include "engine/model/tokenizer/token_decoder.h"
#include "engine/model/tokenizer/tokenizer.h"
#include "engine/model/tokenizer/unigram.h"
#include "engine/model/tokenizer/word_level.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope {

// How a stretch of text becomes tokens.
using TokenModel = std::variant<BytePairs, Unigram, WordLevel>;

// What cuts a text into ids: added tokens are found; the rest is normalized, cut into stretches, and each stretch is
// cut into tokens by the model.
class TextCutter {
public:
    TextCutter(const std::vector<AddedToken>& added, Normalizer normalizer, PreTokenizer pre_tokenizer,
               TokenModel model);

    // Without the template's tokens. Throws Error if the text is no UTF-8, or naming what has no token.
    [[nodiscard]] std::vector<Index> operator()(std::string_view text) const;

private:
    AddedTokens literal_;     // found in the text that is given
    AddedTokens normalized_;  // found in the normalized text
    Normalizer normalizer_;
    PreTokenizer pre_tokenizer_;
    TokenModel model_;
};

// The tokens of a vocabulary by id, added ones marked; an id without a token has an empty one. Throws Error if two
// tokens have the same id.
[[nodiscard]] DecodedTokens tokens_of(const TokenIds& ids, const std::vector<AddedToken>& added);

// The tokens by id, as the decoder shows each.
[[nodiscard]] std::vector<std::string> shown_pieces(const DecodedTokens& tokens, const TokenDecoder& decoder);

// A tokenizer of all these parts.
[[nodiscard]] Tokenizer pipeline_tokenizer(DecodedTokens tokens, TextCutter cutter, TemplateTokens around,
                                           TokenDecoder decoder, SpecialTokens special);

}  // namespace decoderscope
