#include "app/core/generate/cached_passes.h"

#include "app/core/generate/generator.h"
#include "engine/base/error.h"
#include "engine/graph/mixture.h"

#include <optional>

namespace decoderscope::core::generate {

namespace {

std::shared_ptr<const Plan> planned(const Scenario& scenario, const Inputs& inputs, const std::vector<Edit>& edits,
                                    const decoder::Past* past) {
    const Config& config = scenario.config();
    decoder::PassRequest request{config, &scenario.weights(), inputs, edits, scenario.dropout_seed};
    request.past = past;
    request.mutation = mutation_of(scenario);
    return decoder::plan_decoder(request);
}

// Where an edit's cells are in the tensors of a part's plan; nothing if they are not there.
struct Mover {
    const Plan& plan;
    const InputsPart& part;

    // An index along one axis. Rows of k and v, and keys, are counted from the first position; queries and all other
    // tensors have only the new positions, counted from the part's first.
    [[nodiscard]] std::optional<Index> moved(const Step& step, std::size_t axis, Index index) const {
        const Axis& along = step.axes[axis];
        const bool computed = step.role != Role::parameter && !step.in_encoder();
        const bool counts_new = along.name == axis::query || (along.name == axis::pos && along.size == part.count);
        if (along.name == axis::batch && part.row) {
            if (index != *part.row) return std::nullopt;
            index = 0;
        }
        if (computed && counts_new) index -= part.first;
        if (index < 0 || index >= along.size) return std::nullopt;
        return index;
    }

    // As above, for an index that may be "*".
    [[nodiscard]] bool move(const Step& step, std::size_t axis, std::optional<Index>& index) const {
        if (!index) return true;
        index = moved(step, axis, *index);
        return index.has_value();
    }

    std::optional<Edit> operator()(MaskEdit edit) const {
        const Ref mask = plan.step_of(edit.attention, AttentionStep::mask);
        const bool inside = mask != nullptr && move(*mask, 0, edit.batch) && move(*mask, 1, edit.head) &&
                            move(*mask, 2, edit.query) && move(*mask, 3, edit.key);
        return inside ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(const ScaleHead& edit) const {
        return plan.step_of(edit.attention, AttentionStep::z) != nullptr ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(RouteExpert edit) const {
        const std::optional<MixtureSteps> mixture = mixture_called(plan, edit.mlp);
        const bool inside = mixture && move(*mixture->scores, 0, edit.batch) && move(*mixture->scores, 1, edit.pos);
        return inside ? std::optional<Edit>(edit) : std::nullopt;
    }

    std::optional<Edit> operator()(const RewriteStep& edit) const { return edit; }
    // Nothing that is generated depends on a row.
    std::optional<Edit> operator()(const AddRow&) const { return std::nullopt; }

    std::optional<Edit> operator()(SetCell edit) const {
        const Ref step = plan.find(edit.tensor);
        if (step == nullptr || step->axes.size() != edit.index.size()) return std::nullopt;
        for (std::size_t axis = 0; axis < edit.index.size(); ++axis) {
            const std::optional<Index> index = moved(*step, axis, edit.index[axis]);
            if (!index) return std::nullopt;
            edit.index[axis] = *index;
        }
        return edit;
    }
};

}  // namespace

std::vector<Edit> edits_of_part(const Scenario& scenario, const InputsPart& part, const decoder::Past* past) {
    if (scenario.edits.empty()) return {};
    const bool is_part = scenario.inputs.pos() == part.count && !part.row;
    const auto plan = planned(scenario, is_part ? scenario.inputs : part_of(scenario.inputs, part), {}, past);
    std::vector<Edit> edits;
    for (const Edit& edit : scenario.edits)
        if (std::optional<Edit> moved = std::visit(Mover{*plan, part}, edit)) edits.push_back(std::move(*moved));
    return edits;
}

std::shared_ptr<const Plan> plan_of_part(const Scenario& scenario, const InputsPart& part, const decoder::Past* past) {
    return planned(scenario, part_of(scenario.inputs, part), edits_of_part(scenario, part, past), past);
}

Resumable<std::shared_ptr<const Plan>> plan_by_cache(Scenario scenario, Index row) {
    const Index before = row_length(scenario.inputs, row) - 1;
    if (before < 1) throw Error("The text has one token: there are no earlier ones whose k and v could be cached.");
    const std::shared_ptr<const Run> first = co_await execute_in_slices(plan_of_part(scenario, {0, before, row}));
    const decoder::Past past = decoder::past_of(*first);
    co_return plan_of_part(scenario, {before, 1, row}, &past);
}

NamedTensors tensors_of_cached(const Run& cached) {
    NamedTensors tensors;
    for (const Step& step : cached.plan().steps()) {
        const bool kept_whole =  // cross-attention's k and v are inputs of a cached pass
            step.role == Role::input && step.part == Part::cross_attention;
        const bool recorded = step.role == Role::recorded || step.role == Role::on_demand;
        if ((recorded || kept_whole) && !cached.value(step.id).empty())
            tensors.emplace_back(step.name, cached.value(step.id));
    }
    return tensors;
}

NamedTensors same_cells(const Scenario& scenario, const Run& full, const Run& cached, Index row) {
    const Index last = row_length(scenario.inputs, row) - 1;
    NamedTensors tensors;
    for (const auto& [name, tensor] : tensors_of_cached(cached)) {
        const Tensor& whole = full.value(name);
        if (whole.rank() != tensor.rank()) continue;
        Cell first(tensor.rank(), 0);
        Axes axes = whole.axes();
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const std::string_view along = axes[i].name;
            const bool positions = along == axis::pos || along == axis::query;
            axes.resize(i, tensor.dim(i));
            if (along == axis::batch)
                first[i] = row;
            else if (positions && tensor.dim(i) == 1)
                first[i] = last;
        }
        tensors.emplace_back(name, part_of(whole, first, axes));
    }
    return tensors;
}

}  // namespace decoderscope::core::generate
