#pragma once

#include "engine/message.h"
#include "engine/model/tokenizer/tokenizer.h"

#include <string>
#include <string_view>

namespace decoderscope {

// A tokenizer, and, where it only labels, why it can't cut a text.
struct ReadTokenizer {
    Tokenizer tokenizer;
    Sentence labels_alone_because;  // empty where it cuts as it should
};

// Hugging Face's tokenizer.json. A byte-level BPE with GPT-2's words is read exactly; of any other the pieces are kept
// as labels, rather than cutting text nearly as it should be. Throws Error naming the key or token, and what was
// expected, where not even those can be read.
[[nodiscard]] ReadTokenizer parse_tokenizer_json(std::string_view json);

}  // namespace decoderscope
