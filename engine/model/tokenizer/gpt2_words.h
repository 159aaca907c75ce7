#pragma once

#include <string_view>
#include <vector>

namespace decoderscope {

// A text cut into the words that GPT-2's byte-pair encoding works on, which together are the text again: a
// contraction's end, letters, digits or other signs with at most one space before them, or what else there is of
// spaces.
//
// Letters and digits are those of the Unicode that the PCRE2 on this machine knows (14 in Debian 12). Spaces are those
// of JavaScript's \s, as in the ids that the tests compare with; for Python's, U+FEFF is none and U+0085 is one, which
// matters only where one of them stands beside another space or a sign. Throws Error where the text is no UTF-8.
[[nodiscard]] std::vector<std::string_view> gpt2_words(std::string_view text);

}  // namespace decoderscope
