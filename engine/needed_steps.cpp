#include "engine/needed_steps.h"

#include <algorithm>

namespace decoderscope {

NeededSteps needed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted) {
    // From the end: a step is needed if it is wanted or a needed one reads it; the first reader found is the last.
    std::vector<bool> needed(plan.steps().size());
    NeededSteps steps;
    for (StepId id = needed.size(); id-- > 0;) {
        needed[id] = needed[id] || wanted(plan[id]);
        if (!needed[id]) continue;
        steps.order.push_back(id);
        std::vector<StepId>& freed = steps.freed_after.emplace_back();
        for (const StepId operand : plan[id].operands) {
            if (!needed[operand] && !wanted(plan[operand])) freed.push_back(operand);
            needed[operand] = true;
        }
    }
    std::ranges::reverse(steps.order);
    std::ranges::reverse(steps.freed_after);
    return steps;
}

std::vector<Tensor> computed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted) {
    const NeededSteps needed = needed_steps(plan, wanted);
    std::vector<Tensor> values(plan.steps().size());
    for (std::size_t i = 0; i < needed.order.size(); ++i) {
        const Step& step = plan[needed.order[i]];
        Tensor& value = values[step.id];
        if (step.is_source()) {
            value = step.source;
        } else {
            Operands operands;
            for (const StepId operand : step.operands) operands.add(values[operand]);
            value = step.operation.compute(operands, step.axes);
        }
        for (const Patch& patch : step.patches) patch.apply(value);
        for (const StepId freed : needed.freed_after[i]) values[freed] = Tensor();
    }
    return values;
}

}  // namespace decoderscope
