#pragma once

#include "engine/model/config.h"

#include <string_view>

namespace decoderscope {

// What a Hugging Face config.json says of how its family stores tensors, as answers to the questions of names; empty
// for other files, and for families whose names say it all.
[[nodiscard]] Overrides family_answers(std::string_view config_json);

}  // namespace decoderscope
