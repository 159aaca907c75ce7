#pragma once

#include "app/core/run/comparison.h"
#include "engine/graph/run.h"

#include <string>
#include <string_view>
#include <vector>

// Two files of one model, say the original and a quantised one: how far each weight moved.
namespace decoderscope::core::diff {

// The parameters that a run reads, under the contract's names, in the order of its plan.
[[nodiscard]] NamedTensors weights_of(const Run& run);

// Whether two runs are of different files: no parameter of the one is a parameter of the other, in the same memory. One
// model under two configurations shares them, although each may lack some of the other's.
[[nodiscard]] bool has_other_weights(const Run& a, const Run& b);

// Like worst_first(), but by the largest difference relative to the tensor's scale: weights of different tensors have
// different scales.
[[nodiscard]] std::vector<std::size_t> furthest_first(const Comparison& comparison);

// One line per tensor that differs, furthest first, below a header: the largest difference, relative to the tensor's
// scale, the mean, and where the largest is.
[[nodiscard]] std::string moves_table(const Comparison& comparison, std::string_view a, std::string_view b);

}  // namespace decoderscope::core::diff
