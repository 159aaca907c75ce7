#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/step/reader.h"
#include "engine/message.h"

#include <span>
#include <string>
#include <vector>

// One function per law, each in its own file. Each pauses between steps; the run must outlive it.
namespace decoderscope {

[[nodiscard]] Resumable<Invariant> measure_pattern_rows(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_masked_weights(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_future(const Run& run, const Config& config);
[[nodiscard]] Resumable<Invariant> measure_norms(const Run& run);
[[nodiscard]] Resumable<Invariant> measure_finite(const Run& run);

// Shared by all of them.

// The tensors of one attention as its pattern's step has them, all [batch, head, query, key].
struct PatternStep {
    const Step& step;
    Tensor weights;
    Tensor masked_scores;  // what the softmax read; dropout may have changed them
    Tensor mask;
    float fill;  // mask_value
};
// The step that filled in the mask hiding some of this step's cells: this step itself, or one it is computed from;
// nullptr if none.
[[nodiscard]] Ref fill_before(const Plan& plan, const Step& step);
// Every attention pattern of a run, in order.
[[nodiscard]] std::vector<PatternStep> patterns_of(const Run& run);

// Three significant digits.
[[nodiscard]] std::string measure_text(double value);

}  // namespace decoderscope
