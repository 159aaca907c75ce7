#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/norm_placements.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"

#include <vector>

namespace decoderscope::core::norms {

// Where two norm placements disagree about the answer: positions that aren't padding, those with another prediction
// first, and of each kind the one whose logits differ most first.
struct Disagreements {
    std::vector<PositionMove> positions;  // those that differ at all
    Index changed = 0, all = 0;           // with another prediction, of those that count
    Index both_nan = 0;                   // those that are NaN in both, which can't be compared
    bool predicts = false;
};
[[nodiscard]] Disagreements disagreements_of(const OutputMoves& moves);

// From the left run to the right one; empty while it is being compared. No positions where the outputs have different
// shapes.
[[nodiscard]] Value<Disagreements> shown_disagreements(Derived& derived, const BothNorms<Companion>& runs);

// "Their predictions differ at 3 of 20 positions."
[[nodiscard]] Sentence disagreements_sentence(const Disagreements& disagreements);
// "row 0, position 3: “a” → “b”, logits differ by at most 4.2"
[[nodiscard]] Sentence disagreement_sentence(const Scenario& scenario, const PositionMove& move);

}  // namespace decoderscope::core::norms
