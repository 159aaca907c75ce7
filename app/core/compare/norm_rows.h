#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::norms {

// Where two runs disagree about the answer: positions that aren't padding, those with another prediction
// first, and of each kind the one whose logits differ most first.
struct Disagreements {
    std::vector<PositionMove> positions;  // those that differ at all
    Index changed = 0, all = 0;           // with another prediction, of those that count
    Index both_nan = 0;                   // those that are NaN in both, which can't be compared
    bool predicts = false;
};

// From the left run to the right one; empty while it is being compared. No positions where the outputs have different
// shapes.
[[nodiscard]] Value<Disagreements> shown_disagreements(Derived& derived, const Both<Side>& runs);

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

// One row of one norm ("blocks.0.ln1") in both; nothing if a run has no such row. Cached by the two runs.
[[nodiscard]] Value<Both<std::optional<NormRow>>> norm_rows(Derived& derived, const Both<Side>& runs,
                                                            const std::string& norm, Index batch, Index pos);
// As above, for files. Nothing if neither run has it.
[[nodiscard]] std::optional<Exhibit> norm_row_exhibit(const Both<Side>& runs, const std::string& norm, Index batch,
                                                      Index pos);

}  // namespace decoderscope::core::norms
