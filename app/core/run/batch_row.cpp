#include "app/core/run/batch_row.h"

#include "engine/graph/edit.h"

#include <utility>
#include <variant>

namespace decoderscope::core {

namespace {

// Moves an index of the batch; whether the edit reaches the row.
bool moved(std::optional<Index>& batch, Index row) {
    if (batch && *batch != row) return false;
    if (batch) batch = 0;
    return true;
}

struct Moving {
    const Plan& plan;
    Index row;

    bool operator()(MaskEdit& edit) const { return moved(edit.batch, row); }
    bool operator()(RouteExpert& edit) const { return moved(edit.batch, row); }
    bool operator()(ScaleHead&) const { return true; }
    bool operator()(SetCell& edit) const {
        const Ref step = plan.find(edit.tensor);
        if (step == nullptr || step->axes.empty() || step->axes[0].name != axis::batch || step->axes[0].size == 1)
            return true;
        if (edit.index.front() != row) return false;
        edit.index.front() = 0;
        return true;
    }
};

}  // namespace

std::optional<Scenario> only_row(const Scenario& scenario, const Plan& plan, Index row) {
    if (!scenario.computes() || scenario.batch() == 1 || scenario.dropout_seed || !scenario.mutation.empty()) return {};
    Scenario one = scenario;
    one.inputs = part_of(scenario.inputs, {0, scenario.inputs.pos(), row});
    one.gradient_target.clear();
    one.edits.clear();
    for (Edit edit : scenario.edits)
        if (std::visit(Moving{plan, row}, edit)) one.edits.push_back(std::move(edit));
    return one;
}

}  // namespace decoderscope::core
