#pragma once

#include "engine/graph/plan.h"

// Weights as a mistake may take them: one module's for another's.
namespace decoderscope::load {

// With each norm's parameters also under the name that it has on the other side of its sublayer.
[[nodiscard]] Weights with_norms_anywhere(Weights weights);

// How many numbers the experts of mixtures have.
[[nodiscard]] Index numbers_of_experts(const Weights& weights);
// With each of so many experts in the place of the one that stands `on` places before it.
[[nodiscard]] Weights with_experts_moved(Weights weights, Index experts, Index on);

}  // namespace decoderscope::load
