#pragma once

#include "app/core/derived/derived.h"
#include "app/core/labs/norms/depth_curves.h"
#include "app/core/labs/norms/norm_row.h"
#include "app/core/labs/step/outline.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/norm_placements.h"
#include "app/core/run/slice.h"
#include "app/core/session/session.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::norms {

// The same step in two runs, and the difference. Cells that a mask hides in either run are left out of range,
// difference and numbers.
struct StepPair {
    Heatmap a, b;          // with one range for both
    Heatmap difference;    // a − b
    double largest = 0.0;  // of |a − b| over the whole tensor; NaN if exactly one of the two is NaN somewhere
    double mean = 0.0;     // of |a − b| over the whole tensor
    Cell where;            // of the largest
};

// Nothing if the step is not computed in both runs, or has different shapes.
[[nodiscard]] std::optional<StepPair> step_pair(const Scenario& a, const Run& run_a, const Scenario& b,
                                                const Run& run_b, const std::string& step, Place place);

// "Same numbers in both." or "They differ by 1.2 at most, 0.31 on average: …".
[[nodiscard]] std::string pair_sentence(const StepPair& pair, const std::string& step);

// Values derived from the two runs of the Norms tab: the same model with the norms in two of the four places.

// The model's own layer_norm_eps, without the scenario's overrides.
[[nodiscard]] double own_norm_eps(Derived& derived, const Scenario& scenario);

// The curves by depth of a stack.
[[nodiscard]] Value<BothNorms<DepthCurves>> norm_curves(Derived& derived, const BothNorms<Companion>& runs,
                                                        StackKind stack);

// The parts of a block's diagram; empty if a run has no such block.
[[nodiscard]] Value<BothNorms<std::vector<step::OutlinePart>>> norm_diagrams(Derived& derived,
                                                                             const BothNorms<Companion>& runs,
                                                                             const std::string& block);

// The same step in both; nothing if it can't be compared.
[[nodiscard]] Value<std::optional<StepPair>> norm_step_pair(Derived& derived, const BothNorms<Companion>& runs,
                                                            const std::string& step, Place place);

// One row of one norm ("blocks.0.ln1") in both; nothing if a run has no such row.
[[nodiscard]] Value<BothNorms<std::optional<NormRow>>> norm_rows(Derived& derived, const BothNorms<Companion>& runs,
                                                                 const std::string& norm, Index batch, Index pos);

// Of two places of the norms; `own` is the run that both are variations of.
// The curves by depth of a stack.
[[nodiscard]] Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right,
                                    const Places& places = kPreAndPost);
// A step in both, and the difference. Nothing if it is not computed in both.
[[nodiscard]] std::optional<Exhibit> norms_step_exhibit(const ShownRun& left, const ShownRun& right,
                                                        const std::string& step, Place place);
// What a norm does to one row of numbers in both.
[[nodiscard]] std::optional<Exhibit> norm_row_exhibit(const ShownRun& left, const ShownRun& right,
                                                      const std::string& norm, Index batch, Index pos);

}  // namespace decoderscope::core::norms
