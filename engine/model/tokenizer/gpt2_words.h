#pragma once

#include "engine/model/tokenizer/regular_expression.h"

#include <string_view>
#include <vector>

namespace decoderscope {

// GPT-2's regular expression: a word is a contraction's ending; letters, digits or other characters with at most one
// space before them; or a run of remaining spaces. Every character is in one match.
//
// Letters and digits follow the Unicode version of this machine's PCRE2 (14 in Debian 12). Spaces are Unicode's
// White_Space, as in Python's and in Hugging Face's pattern.
[[nodiscard]] const RegularExpression& gpt2_pattern();

// A text cut into these words; joined, they give the text again. Throws Error if the text is not UTF-8.
[[nodiscard]] std::vector<std::string_view> gpt2_words(std::string_view text);

}  // namespace decoderscope
