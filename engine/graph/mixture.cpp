#include "engine/graph/mixture.h"

#include <algorithm>

namespace decoderscope {

std::optional<MixtureSteps> mixture_of(const Plan& plan, const Step& mixed) {
    if (mixed.backward) return std::nullopt;
    const Ref weight = plan.operand(mixed, OperandRole::expert_weight), out = plan.operand(mixed, OperandRole::input);
    if (weight == nullptr || out == nullptr) return std::nullopt;
    const Ref scores = plan.operand(*weight, OperandRole::scores), expert = plan.operand(*weight, OperandRole::expert);
    if (scores == nullptr || expert == nullptr) return std::nullopt;
    return MixtureSteps{mixed.block + ".mlp", scores, expert, weight, out, &mixed};
}

std::vector<MixtureSteps> mixtures(const Plan& plan) {
    std::vector<MixtureSteps> found;
    for (const Step& step : plan.steps())
        if (std::optional<MixtureSteps> mixture = mixture_of(plan, step)) found.push_back(std::move(*mixture));
    return found;
}

std::optional<MixtureSteps> mixture_called(const Plan& plan, std::string_view name) {
    std::vector<MixtureSteps> all = mixtures(plan);
    const auto found = std::ranges::find(all, name, &MixtureSteps::name);
    return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace decoderscope
