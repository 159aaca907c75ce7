#pragma once

#include "app/core/derived/derived.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/heatmap.h"
#include "app/core/run/output_moves.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "engine/base/message.h"
#include "engine/graph/mixture.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace decoderscope::core::experts {

// Which experts of a mixture the positions of one batch row go to, and how much each of them counts.
struct Routing {
    std::string mlp;  // "blocks.0.mlp"
    Index layer = 0;
    Index positions = 0, experts = 0;
    std::vector<float> weights;        // [position, expert]; 0 where it was not chosen
    std::vector<std::uint8_t> chosen;  // [position, expert]
    std::vector<std::uint8_t> counts;  // [position]: 0 for padding

    [[nodiscard]] std::size_t at(Index position, Index expert) const {
        return static_cast<std::size_t>(position * experts + expert);
    }
};

// The run must have computed the mixture.
[[nodiscard]] Routing routing_of(const Inputs& inputs, const Run& run, const MixtureSteps& mixture, Index batch);

// What an expert has to do: the positions that chose it, in order, without padding, and the sum of its weights there.
struct ExpertLoad {
    std::vector<Index> positions;
    double weight = 0.0;
};
[[nodiscard]] std::vector<ExpertLoad> loads_of(const Routing& routing);  // [expert]

// "Expert 2 gets 8 of 21 positions; its weights there add up to 3.1."
[[nodiscard]] Sentence load_sentence(const Routing& routing, Index expert, const ExpertLoad& load);
// "Position 3 goes to expert 2: its score is 0.41, its weight 0.62."; or that it doesn't go there.
[[nodiscard]] Sentence place_sentence(const Run& run, const MixtureSteps& mixture, const Routing& routing, Index batch,
                                      Index position, Index expert);

// "No expert is left at 3 positions: …": what happens if every score is 0 and weights are normalised; empty if there is
// no such position.
[[nodiscard]] Sentence nothing_left_sentence(const Run& run, const MixtureSteps& mixture, const Routing& routing,
                                             Index batch);

// How the edits use an expert at a position, or without one at every position: the last edit that reaches it counts.
enum class Use { as_routed, off, alone };
[[nodiscard]] Use use_of(const std::vector<Edit>& edits, const RouteExpert& place);

// What the Experts tab shows, of one batch row.
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

[[nodiscard]] Exhibit experts_exhibit(const Scenario& scenario, const ShownRouting& routing, const ShownLoads& loads,
                                      Index batch);

}  // namespace decoderscope::core::experts
