#pragma once

#include "engine/graph/plan.h"
#include "engine/model/config.h"

#include <cstdint>

namespace decoderscope::decoder {

// The rule by which weights are initialised. In both an embedding is N(0, 1) (torch.nn.Embedding), and a norm's gain is
// 1 and its shift 0.
enum class Initialisation {
    pytorch,  // a Linear's weight and bias U(±1/√in) (torch.nn.Linear)
    xavier,  // a Linear's weight U(±√(6 / (in + out))) (Glorot & Bengio 2010, torch.nn.init.xavier_uniform_), bias 0
};

// Initial weights from a seed. They are the same on every machine; a parameter's numbers depend on the seed and its
// name alone.
[[nodiscard]] Weights initial_weights(const Config& config, std::uint64_t seed,
                                      Initialisation rule = Initialisation::pytorch);
// As above, for one parameter.
[[nodiscard]] Tensor initial_weight(const Declared& parameter, std::uint64_t seed,
                                    Initialisation rule = Initialisation::pytorch);

}  // namespace decoderscope::decoder
