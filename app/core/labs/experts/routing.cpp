#include "app/core/labs/experts/routing.h"

#include "app/core/text/numbers.h"

#include <algorithm>
#include <numeric>

namespace decoderscope::core::experts {

Routing routing_of(const Inputs& inputs, const Run& run, const MixtureSteps& mixture, Index batch) {
    const Tensor& expert = run.value(mixture.expert->id);  // [batch, pos, slot]
    const Tensor& weight = run.value(mixture.weight->id);
    Routing routing{.mlp = mixture.name, .layer = mixture.mixed->layer};
    routing.positions = mixture.scores->axes[1].size;
    routing.experts = mixture.experts();
    routing.weights.resize(static_cast<std::size_t>(routing.positions * routing.experts));
    routing.chosen.resize(routing.weights.size());
    for (Index position = 0; position < routing.positions; ++position) {
        routing.counts.push_back(is_padding(inputs.attention_mask, batch, position) ? 0 : 1);
        for (Index slot = 0; slot < expert.dim(2); ++slot) {
            const Cell cell = {batch, position, slot};
            const std::size_t at = routing.at(position, static_cast<Index>(expert.at(cell)));
            routing.weights[at] += weight.at(cell);
            routing.chosen[at] = 1;
        }
    }
    return routing;
}

std::vector<ExpertLoad> loads_of(const Routing& routing) {
    std::vector<ExpertLoad> loads(static_cast<std::size_t>(routing.experts));
    for (Index position = 0; position < routing.positions; ++position)
        for (Index expert = 0; expert < routing.experts; ++expert) {
            const std::size_t at = routing.at(position, expert);
            if (routing.chosen[at] == 0 || routing.counts[static_cast<std::size_t>(position)] == 0) continue;
            ExpertLoad& load = loads[static_cast<std::size_t>(expert)];
            load.positions.push_back(position);
            load.weight += static_cast<double>(routing.weights[at]);
        }
    return loads;
}

Sentence load_sentence(const Routing& routing, Index expert, const ExpertLoad& load) {
    const Index all = std::accumulate(routing.counts.begin(), routing.counts.end(), Index{0});
    return message_n("Expert {expert} gets {count} of {all} position; its weights there add up to {weight}.",
                     "Expert {expert} gets {count} of {all} positions; its weights there add up to {weight}.",
                     load.positions.size(),
                     {{"expert", expert}, {"all", all}, {"weight", short_number_text(load.weight, 3)}});
}

Sentence place_sentence(const Run& run, const MixtureSteps& mixture, const Routing& routing, Index batch,
                        Index position, Index expert) {
    const std::size_t at = routing.at(position, expert);
    const Tensor& scores = run.value(mixture.scores->id);
    const float score = scores.at(Cell{batch, position, expert});
    const Arguments arguments = {{"expert", expert},
                                 {"position", position},
                                 {"score", short_number_text(static_cast<double>(score), 3)},
                                 {"weight", short_number_text(static_cast<double>(routing.weights[at]), 3)}};
    return routing.chosen[at] != 0
               ? message("Position {position} goes to expert {expert}: its score is {score}, its weight {weight}.",
                         arguments)
               : message("Position {position} doesn't go to expert {expert}: its score is {score}.", arguments);
}

Sentence nothing_left_sentence(const Run& run, const MixtureSteps& mixture, const Routing& routing, Index batch) {
    const Tensor &scores = run.value(mixture.scores->id), &weights = run.value(mixture.weight->id);
    std::size_t positions = 0;
    for (Index position = 0; position < routing.positions; ++position) {
        const auto all_zero = std::ranges::all_of(scores.row({batch, position, 0}), [](float s) { return s == 0.0F; });
        const auto undefined = std::ranges::any_of(weights.row({batch, position, 0}), [](float w) { return w != w; });
        positions += all_zero && undefined ? 1 : 0;
    }
    if (positions == 0) return {};
    return message_n(
        "No expert is left at {count} position: off sets a score to 0 before the weights are divided by "
        "their sum, and 0 / 0 is NaN, as in PyTorch.",
        "No expert is left at {count} positions: off sets a score to 0 before the weights are divided by "
        "their sum, and 0 / 0 is NaN, as in PyTorch.",
        positions);
}

Use use_of(const std::vector<Edit>& edits, const RouteExpert& place) {
    const auto reaches = [](const std::optional<Index>& edit, const std::optional<Index>& at) {
        return !edit || edit == at;
    };
    Use use = Use::as_routed;
    for (const Edit& edit : edits) {
        const auto* route = std::get_if<RouteExpert>(&edit);
        if (route == nullptr || route->mlp != place.mlp || !reaches(route->batch, place.batch) ||
            !reaches(route->pos, place.pos))
            continue;
        if (route->alone)
            use = route->expert == place.expert ? Use::alone : Use::off;
        else if (route->expert == place.expert)
            use = Use::off;
    }
    return use;
}

}  // namespace decoderscope::core::experts
