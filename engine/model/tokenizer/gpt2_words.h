#pragma once

#include <string_view>
#include <vector>

namespace decoderscope {

// A text cut into the words that GPT-2's byte-pair encoding works on; joined, they give the text again. A word is a
// contraction's ending; letters, digits or other characters with at most one space before them; or a run of remaining
// spaces.
//
// Letters and digits follow the Unicode version of this machine's PCRE2 (14 in Debian 12). Spaces are those of
// JavaScript's \s, as in the ids that the tests compare with. In Python's, U+FEFF is not a space and U+0085 is one,
// which matters only next to another space or other character. Throws Error if the text is not UTF-8.
[[nodiscard]] std::vector<std::string_view> gpt2_words(std::string_view text);

}  // namespace decoderscope
