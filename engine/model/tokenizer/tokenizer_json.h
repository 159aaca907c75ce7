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

// Hugging Face's tokenizer.json: normalizer, pre-tokenizer, model (BPE, Unigram, WordLevel), post-processor and
// decoder, with the ids of Hugging Face's own library. If a part of it is unknown here, only the pieces are kept, as
// labels, and the sentence names its key: cutting text almost correctly would be worse. "truncation" and "padding" are
// ignored. Throws Error naming the key or token, and what was expected, if the vocabulary can't be read.
[[nodiscard]] ReadTokenizer parse_tokenizer_json(std::string_view json);

}  // namespace decoderscope
