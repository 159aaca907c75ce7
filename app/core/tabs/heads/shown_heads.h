#pragma once

#include "app/core/compare/effect_of_edits.h"
#include "app/core/derived/derived.h"
#include "app/core/figure/heatmap.h"
#include "app/core/figure/pattern_lines.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/snapshot.h"
#include "app/core/session/session.h"
#include "app/core/tabs/heads/head_scores.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Values derived from heads.
namespace decoderscope::core::heads {

// The heads of one kind in one batch row: their measures, and the range of weights that their pictures share.
struct MeasuredHeads {
    static constexpr std::size_t kKept = 1;  // it keeps its run

    std::shared_ptr<const Run> run;  // the next run, after an edit, takes over what it need not measure again
    std::vector<HeadScore> scores;
    Range weights;
};
// Empty while many heads are being measured. An attention that `run` shares with the run measured last isn't measured
// again.
[[nodiscard]] Value<MeasuredHeads> measured_heads(Derived& derived, const Scenario& scenario,
                                                  const std::shared_ptr<const Run>& run, AttentionKind kind,
                                                  Index batch);

// Empty while a long pattern's rows go by in the background.
[[nodiscard]] Value<PatternLines> shown_pattern_lines(Derived& derived, const Snapshot& shown, const Step& pattern,
                                                      Place place);
// What all queries put on one key. Empty in the same way.
struct WeightsOnKey {
    static constexpr std::size_t kKept = 4;
    std::vector<float> weights;  // [query]
};
[[nodiscard]] Value<WeightsOnKey> shown_weights_on(Derived& derived, const Snapshot& shown, const Step& pattern,
                                                   Place place, Index key);

// Which of some labels on a line have room, at least `distance` apart: the weightiest first, then in order. Labels of
// weight 0 come last. `at` are their positions, in ascending order.
[[nodiscard]] std::vector<bool> labels_with_room(const std::vector<float>& at, const std::vector<float>& weights,
                                                 float distance);

// The largest weight that a query of an attention puts on one of several keys.
struct StrongestWeight {
    std::string pattern;  // "blocks.0.attn.pattern"
    Cell cell;            // [batch, head, query, key]
    float weight = 0.0F;
};

// The strongest weight of one batch row over all heads. Queries that see a single key have no choice, and are left out;
// so are padding and rows with NaN. Nothing if no query has a choice. `attention` is one of the run's; its pattern and
// mask have values.
[[nodiscard]] std::optional<StrongestWeight> strongest_weight(const Inputs& inputs, const Run& run,
                                                              const std::string& attention, Index batch);

struct ShownStrongestWeight {
    std::optional<StrongestWeight> found;
};
[[nodiscard]] Value<ShownStrongestWeight> shown_strongest_weight(Derived& derived, const Snapshot& shown,
                                                                 const std::string& attention, Index batch);

}  // namespace decoderscope::core::heads
