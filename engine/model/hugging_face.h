#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// A Hugging Face config.json with "model_type": "gpt2" or "llama" as a config.json of the contract; keys that don't
// change the forward pass are ignored. Any other JSON is returned as it is. Throws Error if the text is not JSON, and
// one naming the key if the model needs something that this program doesn't support (rope_scaling, another head_dim,
// …).
[[nodiscard]] std::string from_hugging_face(std::string_view config_json);

}  // namespace decoderscope
