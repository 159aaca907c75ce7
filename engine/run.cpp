#include "engine/run.h"

#include "engine/error.h"

#include <algorithm>

namespace decoderscope {

namespace {

const Tensor kNone;

bool patched_by_hand(const Step& step) { return !step.patches.empty(); }

void apply_patches(const Step& step, Tensor& tensor) {
    for (const Patch& patch : step.patches) patch.apply(tensor);
}

// Adds what was done by hand to a cell behind what was computed.
void explain_patches(const Step& step, const Cell& cell, Explanation& explanation) {
    for (const Patch& patch : step.patches) {
        if (!patch.touches(cell)) continue;
        const auto by_hand = static_cast<double>(patch.value);
        if (patch.kind == Patch::Kind::set) {
            explanation.lines.push_back(line("set by hand", {term({constant_factor(by_hand, "edit")})}));
        } else {
            const double before = explanation.lines.back().value;
            explanation.lines.push_back(line(
                "scaled by hand",
                {term({constant_factor(before, explanation.lines.back().name), constant_factor(by_hand, "edit")})}));
        }
    }
}

}  // namespace

// What computes a run, step by step, taking over what it can.
struct Executor {
    std::shared_ptr<Run> run;
    const ExecuteOptions& options;

    [[nodiscard]] bool asked_for(const Step& step) const {
        if (step.role != Role::on_demand) return true;
        const auto& asked = options.asked;
        return std::any_of(asked.begin(), asked.end(),
                           [&](const std::string& name) { return name == "*" || name == step.name; });
    }

    // The tensor that the previous run has for this step, if nothing that it depends on changed.
    [[nodiscard]] const Tensor& from_previous(const Step& step) const {
        if (options.previous == nullptr) return kNone;
        const Run& previous = *options.previous;
        const Ref before = previous.plan().find(step.name);
        if (before == nullptr || before->patches != step.patches || before->axes != step.axes) return kNone;
        if (step.is_source())
            return before->source.shares_values_with(step.source) ? previous.value(before->id) : kNone;
        if (!(before->operation == step.operation) || before->operands.size() != step.operands.size()) return kNone;
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (!same_as_before(step.operands[i], before->operands[i])) return kNone;
        return previous.value(before->id);
    }

    // Whether one of our steps has the numbers, in the shape, of one of the previous run's.
    [[nodiscard]] bool same_as_before(StepId ours, StepId theirs) const {
        const Run& previous = *options.previous;
        return run->plan()[ours].axes == previous.plan()[theirs].axes &&
               run->value(ours).shares_values_with(previous.value(theirs));
    }

    [[nodiscard]] Tensor compute(const Step& step) const {
        try {
            Tensor tensor =
                step.is_source() ? step.source : step.operation.compute(run->operands_of(step.id), step.axes);
            if (patched_by_hand(step)) apply_patches(step, tensor);
            return tensor;
        } catch (const Error& error) {
            throw Error(step.name + ": " + error.what());
        }
    }

    void visit(const Step& step) {
        if (!asked_for(step)) return;
        Tensor& value = run->values_[step.id];
        value = from_previous(step);
        if (!value.empty()) return;
        value = compute(step);
        if (!step.is_source()) ++run->computed_;
    }
};

Run::Run(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)), values_(plan_->steps().size()) {}

const Tensor& Run::value(std::string_view name) const {
    const Ref step = plan_->find(name);
    return step == nullptr ? kNone : values_[step->id];
}

Operands Run::operands_of(StepId id) const {
    std::vector<const Tensor*> tensors;
    for (const StepId operand : (*plan_)[id].operands) tensors.push_back(&values_[operand]);
    return Operands(std::move(tensors));
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
    for (const auto& [name, tensor] : recorded_tensors(*this)) bytes += tensor.values().size_bytes();
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

std::shared_ptr<const Run> execute(std::shared_ptr<const Plan> plan, const ExecuteOptions& options) {
    Executor executor{std::make_shared<Run>(std::move(plan)), options};
    for (const Step& step : executor.run->plan().steps()) {
        if (options.stop.stop_requested()) return nullptr;
        executor.visit(step);
        if (options.done != nullptr) options.done->fetch_add(1, std::memory_order_relaxed);
    }
    return executor.run;
}

}  // namespace decoderscope
