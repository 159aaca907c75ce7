#pragma once

#include "engine/model/tokenizer/tokenizer.h"

#include <filesystem>

namespace decoderscope {

// The decoder's and the encoder's tokens.
struct Tokenizers {
    Tokenizer target;
    Tokenizer source;
};

// What lies in a model's folder: vocabulary.json (characters) or pieces.json (labels alone), and
// encoder_vocabulary.json for the source where it is another. Throws Error naming the file, the key or token, and what
// was expected.
[[nodiscard]] Tokenizers read_tokenizers(const std::filesystem::path& folder);

}  // namespace decoderscope
