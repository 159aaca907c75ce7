#pragma once

#include "engine/load/names/modules.h"

#include <vector>

namespace decoderscope::load::names {

// Takes a latent attention out of a block's modules, by the names of DeepSeek's files. Empty where the block has none.
[[nodiscard]] std::vector<Assigned> take_latent_attention(Modules& modules);

}  // namespace decoderscope::load::names
