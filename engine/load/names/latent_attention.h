#pragma once

#include "engine/load/names/modules.h"

#include <vector>

namespace decoderscope::load::names {

// Whether a block's modules have a latent attention.
[[nodiscard]] bool has_latent_attention(const Modules& modules);

// Takes a latent attention out of a block's modules, by the names of DeepSeek's files. Empty if the block has none.
[[nodiscard]] std::vector<Assigned> take_latent_attention(Modules& modules);

}  // namespace decoderscope::load::names
