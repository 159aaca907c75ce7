#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/step/reader.h"

#include <span>
#include <string_view>
#include <vector>

// The laws one by one, a file each. Each pauses between steps; the run has to outlive it.
namespace decoderscope {

[[nodiscard]] Resumable<Invariant> measure_pattern_rows(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_masked_weights(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_future(const Run& run, const Config& config);
[[nodiscard]] Resumable<Invariant> measure_norms(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_finite(const Run& run);

// What all of them need.

// The numbers of one attention as a step of its pattern has them, all [batch, head, query, key].
struct PatternStep {
    const Step& step;
    Tensor weights;
    Tensor masked_scores;  // what the softmax read: dropout may have been at work on them
    Tensor mask;
    float fill;  // mask_value
};
// The step that filled in the mask which hides some of this step's cells: itself, or one that it is made from; nullptr
// where there is none.
[[nodiscard]] Ref fill_before(const Plan& plan, const Step& step);
// Every attention pattern of a run, in order.
[[nodiscard]] std::vector<PatternStep> patterns_of(const Run& run);

// Three significant digits.
[[nodiscard]] std::string measure_text(double value);

}  // namespace decoderscope
