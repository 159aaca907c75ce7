#pragma once

#include <string>
#include <string_view>

namespace decoderscope {

// A Hugging Face config.json with "model_type": "gpt2" or "llama" as a config.json of the contract; keys that don't
// change the forward pass are passed over. Any other JSON is returned as it is. Throws Error where the text is no JSON,
// and one naming the key where a model of that type does something that this program doesn't (rope_scaling, another
// head_dim, …).
[[nodiscard]] std::string from_hugging_face(std::string_view config_json);

}  // namespace decoderscope
