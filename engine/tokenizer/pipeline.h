#pragma once

#include "engine/base/json_object.h"
#include "engine/tensor/tensor.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/decode.h"
#include "engine/tokenizer/normalize.h"
#include "engine/tokenizer/regular_expression.h"
#include "engine/tokenizer/split.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/vocabulary.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace decoderscope::tokenizer {

// A token that is found in a text as it stands, before anything is cut: "<|endoftext|>".
struct AddedToken {
    std::string content;
    Index id = 0;
    bool normalized = false;                         // found in the normalised text, not in the one that was given
    bool single_word = false;                        // only between characters that belong to no word
    bool left_spaces = false, right_spaces = false;  // takes white space beside it with it
    bool special = false;                            // marks something, and isn't text
};

// tokenizer.json's "added_tokens"; `ids` are those of the model. Throws Error naming the token.
[[nodiscard]] std::vector<AddedToken> read_added_tokens(const nlohmann::json& list, const TokenIds& ids);

// Finds added tokens in a text: the first from each place on, and the longest of several that begin there.
class AddedTokens {
public:
    explicit AddedTokens(const std::vector<AddedToken>& tokens);

    // A part of a text; without an id it is ordinary text.
    struct Part {
        Span span;
        std::optional<Index> id;
    };
    // The text in parts, from left to right; none is empty.
    [[nodiscard]] std::vector<Part> parts_of(std::string_view text) const;

private:
    struct Found {
        std::size_t at = 0;
        const AddedToken* token = nullptr;
    };
    [[nodiscard]] Found next(std::string_view text, std::size_t from) const;

    std::map<std::string, AddedToken, std::less<>> tokens_;
    std::set<std::size_t, std::greater<>> lengths_;
};

// The tokens that are put around every text.
struct TemplateTokens {
    std::vector<Index> before, behind;
};

// tokenizer.json's "post_processor"; `id_of` finds a token's id. Throws Error naming the key, also of a kind that is
// unknown here.
[[nodiscard]] TemplateTokens read_template(const nlohmann::json& json, const std::string& where,
                                           const std::function<std::optional<Index>(std::string_view)>& id_of);

// How a stretch of text becomes tokens.
using TokenModel = std::variant<BytePairs, Unigram, WordLevel>;

// What cuts a text into ids: added tokens are found; the rest is normalised, cut into stretches, and each stretch is
// cut into tokens by the model.
class TextCutter {
public:
    TextCutter(const std::vector<AddedToken>& added, Normalizer normalizer, PreTokenizer pre_tokenizer,
               TokenModel model);

    // Without the template's tokens. Throws Error if the text isn't UTF-8, or naming what has no token.
    [[nodiscard]] std::vector<Index> operator()(std::string_view text) const;

private:
    AddedTokens literal_;     // found in the text that is given
    AddedTokens normalized_;  // found in the normalised text
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

}  // namespace decoderscope::tokenizer
