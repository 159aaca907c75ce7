#pragma once

#include "app/core/derived/derived.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::step {

// Which weights a score is made of. A score is Σ q·k / √d, and q is Σ x·W: so it is a sum of products with one weight
// each, over all components of q and of x; and once more over those of k. What one weight makes of the score is the
// weight times the score's gradient with respect to it.
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

// A row of an attention's pattern at a glance: how sharp it is, between which keys it hesitates, and what each key's
// value contributes to the row's output.
// A key's part of z = Σ weight · v.
struct KeyPart {
    Index key = 0;
    std::string name;     // "key 3 “a”"
    double weight = 0.0;  // of the pattern
    double length = 0.0;  // of weight · v (L2)
    double share = 0.0;   // (weight · v) · z / |z|²: its share of z's length; the shares of a row add up to 1
};

struct PatternRowReading {
    Index query = 0;
    double entropy = 0.0;          // −Σ w·log2 w over the keys, in bits; NaN if a weight is
    std::optional<double> before;  // of the row before; nothing for the first
    // The two keys between which it hesitates most: those of the two largest weights, the larger first. Their
    // difference says how much. Nothing with fewer than two keys.
    std::optional<KeyPart> largest, second;
    std::optional<double> sink;  // what goes to no key, if there is a sink
    double length = 0.0;         // of z; NaN if z isn't the sum of weight · v (dropout, edits of z)
    std::vector<KeyPart> parts;  // of all keys, the largest share first; empty if length is NaN
};

// The row of the pattern in whose attention the step is, at the cell's batch row, head and query. Nothing for steps
// outside attentions, for cells that belong to no query, and without values.
[[nodiscard]] std::optional<PatternRowReading> read_pattern_row(const Scenario& scenario, const Run& run,
                                                                const Step& step, const Cell& cell);

struct ShownPatternRow {
    std::optional<PatternRowReading> row;
};
[[nodiscard]] Value<ShownPatternRow> shown_pattern_row(Derived& derived, const Snapshot& shown, const Step& step,
                                                       const Cell& cell);

// "Row: entropy 1.32 bits, 0.41 more than above."
[[nodiscard]] Sentence sharpness_sentence(const PatternRowReading& row);
// "Largest: key 3 “a” 0.51, key 5 “b” 0.46; 0.05 apart."; empty with fewer than two keys.
[[nodiscard]] Sentence hesitation_sentence(const PatternRowReading& row);
// "The sink takes 0.37 of it, which goes to no key."; empty without a sink.
[[nodiscard]] Sentence sink_sentence(const PatternRowReading& row);
// "key 3 “a” makes 62 % of z (length 1.2).".
[[nodiscard]] Sentence part_sentence(const KeyPart& part);

}  // namespace decoderscope::core::step
