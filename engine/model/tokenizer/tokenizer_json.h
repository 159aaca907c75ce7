#pragma once

#include "engine/message.h"
#include "engine/model/tokenizer/tokenizer.h"

#include <string>
#include <string_view>

namespace decoderscope {

// A tokenizer and, if it only labels, why it can't cut a text.
struct ReadTokenizer {
    Tokenizer tokenizer;
    Sentence labels_alone_because;  // empty if it cuts text correctly
};

// Hugging Face's tokenizer.json. A byte-level BPE with GPT-2's words is read exactly. Of any other, only the pieces are
// kept, as labels: cutting text almost correctly would be worse. Throws Error naming the key or token, and what was
// expected, if not even the pieces can be read.
[[nodiscard]] ReadTokenizer parse_tokenizer_json(std::string_view json);

}  // namespace decoderscope
