#pragma once

#include "engine/model/config.h"
#include "engine/plan.h"

#include <cstdint>

namespace decoderscope {

// Weights initialised as PyTorch does, from a seed: a Linear's weight and bias U(±1/√in) (torch.nn.Linear), an
// embedding N(0, 1) (torch.nn.Embedding), a norm's gain 1 and shift 0. The same on every machine; a parameter's numbers
// depend on the seed and its name alone.
[[nodiscard]] Weights initial_weights(const Config& config, std::uint64_t seed);
// The same for one parameter.
[[nodiscard]] Tensor initial_weight(const Declared& parameter, std::uint64_t seed);

}  // namespace decoderscope
