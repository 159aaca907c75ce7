#include "app/core/generate/cached_passes.h"

#include "app/core/generate/generator.h"
#include "app/core/run/passes_of_text.h"
#include "engine/base/error.h"

namespace decoderscope::core::generate {

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

NamedTensors same_cells(const InputsPart& part, const Run& full, const Run& cached) {
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
                first[i] = part.row.value_or(0);
            else if (positions && tensor.dim(i) == part.count)
                first[i] = part.first;
        }
        tensors.emplace_back(name, part_of(whole, first, axes));
    }
    return tensors;
}

}  // namespace decoderscope::core::generate
