#include "engine/run.h"

#include "engine/translate.h"

namespace decoderscope {

namespace {

const Tensor kNone;

// Adds the edits of a cell after the computed lines.
void explain_patches(const Step& step, const Cell& cell, Explanation& explanation) {
    for (const Patch& patch : step.patches) {
        if (!patch.touches(cell)) continue;
        const auto set = static_cast<double>(patch.value);
        if (patch.kind == Patch::Kind::set) {
            explanation.lines.push_back(line(tr("set manually"), {term({constant_factor(set, tr("edit"))})}));
        } else {
            const double before = explanation.lines.back().value;
            explanation.lines.push_back(line(
                tr("scaled manually"),
                {term({constant_factor(before, explanation.lines.back().name), constant_factor(set, tr("edit"))})}));
        }
    }
}

}  // namespace

Run::Run(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), values_(plan_->steps().size()) {}

const Tensor& Run::value(std::string_view name) const {
    const Ref step = plan_->find(name);
    return step == nullptr ? kNone : value(step->id);
}

Operands Run::operands_of(StepId id) const {
    Operands operands;
    for (const StepId operand : (*plan_)[id].operands) operands.add(value(operand));
    return operands;
}

Explanation Run::explain(StepId id, const Cell& cell) const {
    const Step& step = (*plan_)[id];
    const Tensor& values = step.is_source() ? step.source : values_[id];
    Explanation explanation = step.operation.explain(operands_of(id), values, cell);
    explain_patches(step, cell, explanation);
    return explanation;
}

std::size_t Run::recorded_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : recorded_tensors(*this))
        bytes += static_cast<std::size_t>(tensor.size()) * sizeof(float);
    return bytes;
}

std::vector<std::pair<std::string, Tensor>> recorded_tensors(const Run& run) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const Step& step : run.plan().steps()) {
        const bool in_trace = step.role == Role::recorded || step.role == Role::on_demand;
        if (in_trace && !run.value(step.id).empty()) tensors.emplace_back(step.name, run.value(step.id));
    }
    return tensors;
}

}  // namespace decoderscope
