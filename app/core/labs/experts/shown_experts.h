#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/heatmap.h"
#include "app/core/labs/experts/routing.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/snapshot.h"

#include <optional>
#include <string>
#include <vector>

// What the Experts tab shows, of one batch row.
namespace decoderscope::core::experts {

// One mixture: weights by expert and position, and what each expert has to do.
struct ShownRouting {
    static constexpr std::size_t kKept = 64;
    Routing routing;
    std::vector<ExpertLoad> loads;             // [expert]
    std::vector<std::string> position_labels;  // tokens
    Heatmap weights;                           // [expert, position]
    Sentence nothing_left;                     // of positions without an expert; mostly empty
};
// Empty until the run has computed the mixture.
[[nodiscard]] Value<ShownRouting> shown_routing(Derived& derived, const Snapshot& shown, const std::string& mlp,
                                                Index batch);

// How many positions each expert of each layer gets, [layer, expert].
struct ShownLoads {
    Heatmap loads;
    std::vector<std::string> mixtures;  // of the rows
};
[[nodiscard]] Value<ShownLoads> shown_loads(Derived& derived, const Snapshot& shown, Index batch);

// How far the edits moved the output; empty while it is being compared.
[[nodiscard]] Value<OutputMoves> effect_on_output(Derived& derived, const Snapshot& shown);

[[nodiscard]] Exhibit experts_exhibit(const Scenario& scenario, const ShownRouting& routing, const ShownLoads& loads,
                                      Index batch);

}  // namespace decoderscope::core::experts
