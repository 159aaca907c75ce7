#include "engine/mutations/sites.h"

#include <algorithm>

namespace decoderscope::sites {

std::vector<std::string> attentions(const Plan& plan) {
    std::vector<std::string> found;
    for (const Step& step : plan.steps())
        if (!step.attention.empty() && std::ranges::find(found, step.attention) == found.end())
            found.push_back(step.attention);
    return found;
}

std::vector<std::string> attentions(const Plan& plan, Part part) {
    std::vector<std::string> found;
    for (const Step& step : plan.steps())
        if (!step.attention.empty() && step.part == part && !step.in_encoder() &&
            std::ranges::find(found, step.attention) == found.end())
            found.push_back(step.attention);
    return found;
}

std::vector<StepId> readers(const Plan& plan, const std::string& attention, std::string_view parameter) {
    std::vector<StepId> found = readers(plan, parameter);
    std::erase_if(found, [&](StepId id) { return plan[id].attention != attention; });
    return found;
}

std::vector<StepId> readers(const Plan& plan, std::string_view parameter) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps()) {
        if (step.role == Role::on_demand) continue;
        const bool reads = std::ranges::any_of(step.operands, [&](StepId operand) {
            return plan[operand].role == Role::parameter && plan[operand].name.ends_with(parameter);
        });
        if (reads) found.push_back(step.id);
    }
    return found;
}

std::vector<StepId> norms(const Plan& plan) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operation.traits().norm) found.push_back(step.id);
    return found;
}

std::vector<StepId> scales(const Plan& plan) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.operation.traits().scale) found.push_back(step.id);
    return found;
}

Part made_by(const Plan& plan, StepId id) {
    const Step& step = plan[id];
    return step.operation.traits().norm ? plan[step.operands[0]].part : step.part;
}

std::vector<StepId> sums_of(const Plan& plan, Part part) {
    std::vector<StepId> found;
    for (const Step& step : plan.steps())
        if (step.part == Part::add && step.operands.size() == 2 && made_by(plan, step.operands[1]) == part)
            found.push_back(step.id);
    return found;
}

bool has_bias(const Step& step) { return step.operands.size() > 2; }

}  // namespace decoderscope::sites
