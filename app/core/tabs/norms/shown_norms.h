#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/slice.h"
#include "app/core/run/snapshot.h"
#include "app/core/session/session.h"
#include "app/core/tabs/norms/depth_curves.h"
#include "app/core/tabs/step/shown_step.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::norms {

// How long one position's row of the residual stream is (L2): what enters the stack, then what each block leaves.
struct StreamLength {
    std::string step;   // "blocks.1.resid_post"
    std::string block;  // empty for what enters the stack
    double length = 0.0;
};
[[nodiscard]] std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position);

// Where two norm placements disagree about the answer: positions that aren't padding, those with another prediction
// first, and of each kind the one whose logits differ most first.
struct Disagreements {
    std::vector<PositionMove> positions;  // those that differ at all
    Index changed = 0, all = 0;           // with another prediction, of those that count
    Index both_nan = 0;                   // those that are NaN in both, which can't be compared
    bool predicts = false;
};

// From the left run to the right one; empty while it is being compared. No positions where the outputs have different
// shapes.
[[nodiscard]] Value<Disagreements> shown_disagreements(Derived& derived, const BothNorms<Companion>& runs);

// "Their predictions differ at 3 of 20 positions."
[[nodiscard]] Sentence disagreements_sentence(const Disagreements& disagreements);
// "row 0, position 3: “a” → “b”, logits differ by at most 4.2"
[[nodiscard]] Sentence disagreement_sentence(const Scenario& scenario, const PositionMove& move);

// What one norm does to one row of d_model numbers, step by step.
struct NormRow {
    std::string norm;                // "blocks.0.ln1"
    bool centred = true;             // LayerNorm subtracts the mean; RMSNorm doesn't
    std::string before_step;         // the tensor that it reads
    std::string after_step;          // "blocks.0.ln1.normalized"
    std::vector<float> before;       // the row that it reads
    std::vector<float> unit;         // (before − mean) / scale
    std::vector<float> after;        // unit · gain + shift: what is recorded as `normalized`
    std::vector<float> gain, shift;  // learned, one number per column; there is no shift under RMSNorm or without
                                     // biases. The gain is what x is multiplied by: 1 + weight where the norm says so
    std::string gain_parameter, shift_parameter;  // "layers.0.norm1.weight"; empty: none
    double mean = 0.0;                            // of `before`
    double centre = 0.0;                          // what the norm subtracts: the mean; 0 under RMSNorm
    double variance = 0.0;                        // the mean square of the distance from the centre, over n or n − 1
    double deviation = 0.0;  // √variance: the standard deviation; under RMSNorm the root mean square
    double eps = 0.0;
    bool eps_outside = false;
    bool unbiased = false;  // the variance is over n − 1
    double scale = 1.0;     // √(variance + eps), or √variance + eps; as recorded
    // Of `unit` and `after`; the deviations are about the mean, under RMSNorm about zero.
    double unit_mean = 0.0, unit_deviation = 0.0, after_mean = 0.0, after_deviation = 0.0;
    double length_before = 0.0, length_after = 0.0;  // L2
};

// The norms of a block, then the one after its stack: "blocks.0.ln1", …, "ln_final". `block` is "" outside blocks.
[[nodiscard]] std::vector<std::string> norms_of_block(const Plan& plan, const std::string& block, StackKind stack);

// One row of a norm; nothing if the run has no such norm or no such row.
[[nodiscard]] std::optional<NormRow> norm_row(const Run& run, const std::string& norm, Index batch, Index pos);

// What the norm did to the row, in a sentence with its numbers.
[[nodiscard]] std::string norm_row_sentence(const NormRow& row);

// What a norm does to the row that a cell of one of its steps is in; nothing for cells of other steps.
struct InspectedNorm {
    std::optional<NormRow> row;
};
[[nodiscard]] Value<InspectedNorm> inspected_norm(Derived& derived, const Snapshot& shown, const Step& step,
                                                  const Cell& cell);

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
