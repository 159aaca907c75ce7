#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/tokenizer/tokenizer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace decoderscope {

// The decoder's and the encoder's tokens.
struct Tokenizers {
    Tokenizer target;
    Tokenizer source;
    std::vector<Sentence> remarks;  // what was noticed, one sentence each
};

// The tokenizers in a model's folder, from the first of these that exists: vocabulary.json (characters), tokenizer.json
// (Hugging Face's), vocab.json with merges.txt (GPT-2's), pieces.json (labels alone). The source has the same tokens,
// or those of encoder_vocabulary.json (characters). Where an encoder makes the memory, a target begins with the model's
// decoder_start_token_id and has no token behind it; generation stops at eos_token_id.
//
// Ids of the model without a piece are shown in digits, with a remark. Throws Error naming the file, the key or token,
// and what was expected; also if there are more tokens than the model has.
[[nodiscard]] Tokenizers read_tokenizers(const std::filesystem::path& folder, const Config& config);

}  // namespace decoderscope
