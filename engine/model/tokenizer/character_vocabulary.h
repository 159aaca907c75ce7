#pragma once

#include "engine/model/tokenizer/tokenizer.h"

namespace decoderscope {

// A vocabulary of characters, as the bundled models store it (vocabulary.json):
//     {"tokens": ["<pad>", "<bos>", "<eos>", "a", "b"], "pad": "<pad>", "beginning": "<bos>", "end": "<eos>"}
// The position in the list is the id. The three special tokens may be absent; every other token is one UTF-8 character.
// Throws Error naming the key or the token, and what was expected.
[[nodiscard]] Tokenizer parse_character_vocabulary(std::string_view json);

}  // namespace decoderscope
