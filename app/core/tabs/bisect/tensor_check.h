#pragma once

#include "app/core/tabs/bisect/judgement.h"
#include "engine/graph/run.h"
#include "engine/trace/alignment.h"

#include <optional>
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
    bool differs = false;   // by more than the tolerance or, without one, by more than rounding explains
    Judgement judged;       // beside rounding, unless it differs by more than the coarse tolerance
    bool by_cause = false;  // it is no rounding because far fewer numbers are apart with a cause than without
    bool harmless = false;  // it differed, but what is computed from it doesn't: no difference after all
};

// Compares a match with what the step was computed to be; a tensor without numbers was not. Of scores, `mask` says
// which count; empty if all do.
[[nodiscard]] TensorCheck check_tensor(const Plan& plan, const Step& step, const Tensor& ours, const Tensor& mask,
                                       const trace::Match& match, const trace::TraceTensor& theirs, double tolerance);
// As above, of a run, with the mask that it has.
[[nodiscard]] TensorCheck check_tensor(const Run& run, StepId step, const Tensor& ours, const trace::Match& match,
                                       const trace::TraceTensor& theirs, double tolerance);
// 1 where a number belongs to what stands before a text, as its padding does, otherwise 0; empty if nothing does. It
// sees nothing but padding, and nothing sees it: programs differ in what they compute there.
[[nodiscard]] Tensor before_text(const Plan& plan, const Step& step);
// The mask that says which of a step's scores count; empty if all do.
[[nodiscard]] std::optional<StepId> mask_of_scores(const Step& step);

// Whether a recorded difference may be no more than another way of writing the same: scores, and what they are computed
// from, as long as the pattern is the same; but a match that is known by its own name is meant literally.
[[nodiscard]] bool may_be_written_otherwise(const trace::Match& match, const Step& step);

// The factor by which theirs is ours, by least squares over what `counts` (all, if it is empty).
[[nodiscard]] double factor_between(const trace::LaidOut& both, const Tensor& counts = {});

// How a cell is computed, a line for each quantity on the way, with the largest few of its terms. Empty if the run has
// no such step or cell.
[[nodiscard]] std::vector<std::string> explanation_lines(const Run& run, const std::string& step, const Cell& cell);

// The names of the steps that a step reads.
[[nodiscard]] std::vector<std::string> operand_names(const Plan& plan, const std::string& step);

}  // namespace decoderscope::core::bisect
