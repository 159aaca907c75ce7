#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"

#include <optional>
#include <string>
#include <vector>

// Which weights a score is made of. A score is Σ q·k / √d, and q is Σ x·W: so it is a sum of products with one weight
// each, over all components of q and of x; and once more over those of k. What one weight makes of the score is the
// weight times the score's gradient with respect to it.
namespace decoderscope::core::step {

// The score of a cell [batch, head, query, key] of scores or pattern.
struct ScoreCell {
    std::string tensor;  // "blocks.0.attn.attn_scores"
    Cell cell;
};
// Nothing for other cells, or if the projections can't be found (a recording).
[[nodiscard]] std::optional<ScoreCell> score_of(const Plan& plan, const Step& step, const Cell& cell);

struct WeightPart {
    Cell cell;           // of the weight, [out, in]
    double value = 0.0;  // its contribution to the score
};

// The weights of one projection, q_proj or k_proj.
struct ProjectionParts {
    std::string weight;               // "layers.0.self_attn.q_proj.weight"
    std::vector<WeightPart> largest;  // the first kMostWeights by magnitude
    double sum = 0.0;                 // of all of its weights
    std::string bias;                 // empty if there is none
    double of_bias = 0.0;             // what the biases contribute
};
inline constexpr std::size_t kMostWeights = 5;

struct ShownScoreWeights {
    static constexpr std::size_t kKept = 4;
    std::vector<ProjectionParts> projections;
    Sentence error;
};
// Empty while it is being computed.
[[nodiscard]] Value<ShownScoreWeights> shown_score_weights(Derived& derived, const Snapshot& shown,
                                                           const ScoreCell& score);

}  // namespace decoderscope::core::step
