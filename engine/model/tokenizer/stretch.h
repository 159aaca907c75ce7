#pragma once

#include <string>
#include <utility>
#include <vector>

namespace decoderscope {

// A part of a text on its way through a tokenizer.
struct Stretch {
    std::string text;
    // It begins with the first character that was given: some tokenizers put a space before it, but not elsewhere.
    bool begins_text = false;
};

using Stretches = std::vector<Stretch>;

}  // namespace decoderscope
