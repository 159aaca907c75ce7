#pragma once

#include "engine/graph/run.h"
#include "engine/trace/alignment.h"

#include <string>
#include <vector>

namespace decoderscope::core::bisect {

// How one recorded tensor differs from the step that it was aligned with.
struct TensorCheck {
    trace::Match match;
    std::string ours, theirs;  // their names
    bool is_computed = true;   // the run has the step; without it nothing is compared
    bool other_shape = false;
    double largest = 0.0;   // max |ours − theirs| over what counts; ∞ where only one is NaN, infinite or hidden
    double relative = 0.0;  // to the tensor's largest magnitude
    Cell cell;              // where it is, an index of ours; empty if nothing differs
    float our_value = 0.0F, their_value = 0.0F;
    double factor = 1.0;    // theirs is ours times it: for what is compared up to a factor
    bool differs = false;   // by more than the tolerance
    bool harmless = false;  // it differed, but what is computed from it doesn't: no difference after all
};

// Compares a match under a run. The run's plan may differ from the one that was aligned: the step is found by name.
[[nodiscard]] TensorCheck check_tensor(const Run& run, const std::string& step, const trace::Match& match,
                                       const trace::TraceTensor& theirs, double tolerance);

// As above, if the step were computed as `ours`.
[[nodiscard]] TensorCheck check_tensor(const Run& run, const std::string& step, const Tensor& ours,
                                       const trace::Match& match, const trace::TraceTensor& theirs, double tolerance);

// How a cell is computed, a line for each quantity on the way, with the largest few of its terms. Empty if the run has
// no such step or cell.
[[nodiscard]] std::vector<std::string> explanation_lines(const Run& run, const std::string& step, const Cell& cell);

// The names of the steps that a step reads.
[[nodiscard]] std::vector<std::string> operand_names(const Plan& plan, const std::string& step);

}  // namespace decoderscope::core::bisect
