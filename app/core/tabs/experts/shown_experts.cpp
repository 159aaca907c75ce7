#include "app/core/tabs/experts/shown_experts.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <numeric>
#include <tuple>

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

namespace {

std::vector<std::string> numbers_up_to(Index count) {
    std::vector<std::string> labels;
    for (Index i = 0; i < count; ++i) labels.push_back(std::to_string(i));
    return labels;
}

Heatmap heatmap_of_weights(const Routing& routing, std::vector<std::string> positions, const std::string& tensor) {
    Heatmap heatmap{.title = tensor};
    heatmap.row_axis = std::string(axis::expert);
    heatmap.column_axis = std::string(axis::pos);
    heatmap.rows = routing.experts;
    heatmap.columns = routing.positions;
    heatmap.row_labels = numbers_up_to(routing.experts);
    heatmap.column_labels = std::move(positions);
    heatmap.column_labels.resize(static_cast<std::size_t>(routing.positions));
    heatmap.scale = Scale::sequential;
    for (Index expert = 0; expert < routing.experts; ++expert)
        for (Index position = 0; position < routing.positions; ++position) {
            heatmap.values.push_back(routing.weights[routing.at(position, expert)]);
            const bool counts = routing.counts[static_cast<std::size_t>(position)] != 0;
            heatmap.hidden.push_back(counts ? hidden_by::nothing : hidden_by::padding);
        }
    heatmap.range = range_of(heatmap.values, heatmap.scale);
    return heatmap;
}

bool is_computed(const Run& run, const MixtureSteps& mixture) {
    return !run.value(mixture.expert->id).empty() && !run.value(mixture.weight->id).empty() &&
           !run.value(mixture.scores->id).empty();
}

}  // namespace

Value<ShownRouting> shown_routing(Derived& derived, const Snapshot& shown, const std::string& mlp, Index batch) {
    const std::optional<MixtureSteps> mixture = mixture_called(shown.run->plan(), mlp);
    if (!mixture || !is_computed(*shown.run, *mixture)) return {};
    return derived.get<ShownRouting>({shown.run}, std::tie(mlp, batch), [&] {
        ShownRouting made{.routing = routing_of(inputs_of_shown(shown.scenario), *shown.run, *mixture, batch)};
        made.loads = loads_of(made.routing);
        made.nothing_left = nothing_left_sentence(*shown.run, *mixture, made.routing, batch);
        made.position_labels = axis_labels(shown.scenario, *mixture->scores, 1, batch);
        made.weights = heatmap_of_weights(made.routing, made.position_labels, mixture->weight->name);
        return made;
    });
}

Value<ShownLoads> shown_loads(Derived& derived, const Snapshot& shown, Index batch) {
    const std::vector<MixtureSteps> all = mixtures(shown.run->plan());
    if (all.empty() || !std::ranges::all_of(all, [&](const auto& one) { return is_computed(*shown.run, one); }))
        return {};
    return derived.get<ShownLoads>({shown.run}, std::tie(batch), [&] {
        ShownLoads made;
        Heatmap& heatmap = made.loads;
        heatmap.title = tr("Positions by expert");
        heatmap.row_axis = "layer";  // not a message: an axis
        heatmap.column_axis = std::string(axis::expert);
        heatmap.columns = all.front().experts();
        heatmap.column_labels = numbers_up_to(heatmap.columns);
        heatmap.scale = Scale::sequential;
        for (const MixtureSteps& mixture : all) {
            made.mixtures.push_back(mixture.name);
            heatmap.row_labels.push_back(std::to_string(mixture.mixed->layer));
            for (const ExpertLoad& load :
                 loads_of(routing_of(inputs_of_shown(shown.scenario), *shown.run, mixture, batch)))
                heatmap.values.push_back(static_cast<float>(load.positions.size()));
        }
        heatmap.rows = static_cast<Index>(all.size());
        heatmap.range = range_of(heatmap.values, heatmap.scale);
        return made;
    });
}

Exhibit experts_exhibit(const Scenario& scenario, const ShownRouting& routing, const ShownLoads& loads, Index batch) {
    Exhibit exhibit{.title = tr("Experts"), .subtitle = routing.routing.mlp};
    exhibit.caption = caption_of(scenario, tr("Experts"), tr("batch {index}", {{"index", batch}}));
    exhibit.panels.push_back(panel_of(routing.weights.title, routing.weights));
    exhibit.panels.push_back(panel_of("load", loads.loads));
    exhibit.columns = 1;
    return exhibit;
}

}  // namespace decoderscope::core::experts
