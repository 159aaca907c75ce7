#pragma once

#include <algorithm>
#include <string>

namespace decoderscope::testing {

// What the model "reverse" is asked for, letter by letter.
inline std::string reversed(std::string word) {
    std::ranges::reverse(word);
    return word;
}

}  // namespace decoderscope::testing
