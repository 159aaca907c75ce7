#include "app/core/labs/experts/shown_experts.h"

#include "app/core/run/exhibit_step.h"
#include "app/core/run/labels.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <tuple>

namespace decoderscope::core::experts {

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
        ShownRouting made{.routing = routing_of(shown.scenario.inputs, *shown.run, *mixture, batch)};
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
            for (const ExpertLoad& load : loads_of(routing_of(shown.scenario.inputs, *shown.run, mixture, batch)))
                heatmap.values.push_back(static_cast<float>(load.positions.size()));
        }
        heatmap.rows = static_cast<Index>(all.size());
        heatmap.range = range_of(heatmap.values, heatmap.scale);
        return made;
    });
}

Value<OutputMoves> effect_on_output(Derived& derived, const Snapshot& shown) {
    return derived.later<OutputMoves>({shown.unedited, shown.run}, std::tuple<>(), [&] {
        return output_moves(shown.unedited, shown.run, shown.scenario.inputs.attention_mask);
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
