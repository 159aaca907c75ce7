#pragma once

#include "engine/model/tokenizer/tokenizer.h"

namespace decoderscope {

// A vocabulary of characters, as the bundled models bring it (vocabulary.json):
//     {"tokens": ["<pad>", "<bos>", "<eos>", "a", "b"], "pad": "<pad>", "beginning": "<bos>", "end": "<eos>"}
// The place in the list is the id; the three special tokens may be absent, and every other token is one character of
// UTF-8. Throws Error naming the key or the token, and what was expected.
[[nodiscard]] Tokenizer parse_character_vocabulary(std::string_view json);

}  // namespace decoderscope
