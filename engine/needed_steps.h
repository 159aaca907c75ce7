#pragma once

#include "engine/plan.h"

#include <functional>
#include <vector>

namespace decoderscope {

// The steps that some wanted ones need, and when each of the others can be freed again.
struct NeededSteps {
    std::vector<StepId> order;                     // of computation; with the wanted steps
    std::vector<std::vector<StepId>> freed_after;  // beside `order`: what no later step reads
};
[[nodiscard]] NeededSteps needed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted);

// The values of the wanted steps alone, by step; all other tensors are empty. Nothing else is computed.
[[nodiscard]] std::vector<Tensor> computed_steps(const Plan& plan, const std::function<bool(const Step&)>& wanted);

}  // namespace decoderscope
