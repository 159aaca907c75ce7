#include "engine/way_back.h"

#include <algorithm>

namespace decoderscope {

namespace {

constexpr std::string_view kGradient = "grad.", kThrough = ".through.", kBeforeEdits = ".before_edits";

bool begins_way_back(const Step& step) { return step.name.starts_with(kGradient); }

}  // namespace

std::optional<StepId> way_back_begins(const Plan& plan) {
    // Steps are in the order of computation: the gradients, if any, are the last ones.
    const auto& steps = plan.steps();
    if (steps.empty() || !begins_way_back(steps.back())) return std::nullopt;
    const auto first = std::ranges::find_if(steps, begins_way_back);
    return first->id;
}

bool is_on_way_back(const Plan& plan, const Step& step) {
    const std::optional<StepId> first = way_back_begins(plan);
    return first && step.id >= *first;
}

Ref differentiated(const Plan& plan, const Step& gradient) {
    if (!begins_way_back(gradient)) return nullptr;
    std::string_view name = std::string_view(gradient.name).substr(kGradient.size());
    if (const Ref whole = plan.find(name)) return whole;
    if (const std::size_t at = name.find(kThrough); at != std::string_view::npos) name = name.substr(0, at);
    if (name.ends_with(kBeforeEdits)) name.remove_suffix(kBeforeEdits.size());
    return plan.find(name);
}

Ref gradient_by(const Plan& plan, const Step& step) { return plan.find(std::string(kGradient) + step.name); }

}  // namespace decoderscope
