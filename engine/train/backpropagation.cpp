#include "engine/train/backpropagation.h"

#include "engine/error.h"

#include <algorithm>
#include <array>

namespace decoderscope {

namespace {

constexpr std::size_t kKnownPasses = 16;
constexpr std::string_view kGradient = "grad.";

struct NamedInput {
    std::string_view name;
    Tensor Inputs::*member;
};

constexpr std::array kInputs = {NamedInput{"tokens", &Inputs::tokens},
                                NamedInput{"x", &Inputs::x},
                                NamedInput{"memory", &Inputs::memory},
                                NamedInput{"encoder_tokens", &Inputs::encoder_tokens},
                                NamedInput{"attention_mask", &Inputs::attention_mask},
                                NamedInput{"encoder_attention_mask", &Inputs::encoder_attention_mask},
                                NamedInput{"custom_mask", &Inputs::custom_mask},
                                NamedInput{"targets", &Inputs::targets}};

std::vector<Axes> shape_of(const Inputs& batch) {
    std::vector<Axes> shape;
    for (const NamedInput& input : kInputs) shape.push_back((batch.*input.member).axes());
    return shape;
}

// The parameter that a step is the gradient by; nullptr if it is none.
Ref parameter_of(const Plan& plan, const Step& step) {
    if (!step.name.starts_with(kGradient)) return nullptr;
    const Ref by = plan.find(std::string_view(step.name).substr(kGradient.size()));
    return by != nullptr && by->role == Role::parameter ? by : nullptr;
}

bool is_wanted(const Plan& plan, const Step& step) {
    return step.name == "loss" || parameter_of(plan, step) != nullptr;
}

// The values of a parameter or an input for this batch.
const Tensor& source_of(const Step& step, const Weights& weights, const Inputs& batch) {
    if (step.role == Role::parameter) return weights.find(step.name)->second;
    return batch.*std::ranges::find(kInputs, std::string_view(step.name), &NamedInput::name)->member;
}

}  // namespace

Backpropagation::Pass Backpropagation::pass_for(const Weights& weights, const Inputs& batch,
                                                std::optional<std::uint64_t> dropout_seed) {
    Pass pass{.shape = shape_of(batch),
              .plan = plan_decoder({.config = config_,
                                    .weights = &weights,
                                    .inputs = batch,
                                    .edits = {},
                                    .dropout_seed = dropout_seed,
                                    .gradients_of = "loss",
                                    .gradients_by = GradientsBy::parameters})};
    const Plan& plan = *pass.plan;
    pass.loss = plan.find("loss")->id;
    // From the end: a step is needed if it is wanted or a needed one reads it; the first reader found is the last.
    std::vector<bool> needed(plan.steps().size());
    for (StepId id = needed.size(); id-- > 0;) {
        const Step& step = plan[id];
        needed[id] = needed[id] || is_wanted(plan, step);
        if (!needed[id]) continue;
        pass.order.push_back(id);
        std::vector<StepId>& freed = pass.freed_after.emplace_back();
        for (const StepId operand : step.operands) {
            if (!needed[operand] && !is_wanted(plan, plan[operand])) freed.push_back(operand);
            needed[operand] = true;
        }
    }
    std::ranges::reverse(pass.order);
    std::ranges::reverse(pass.freed_after);
    return pass;
}

const Backpropagation::Pass& Backpropagation::known_pass(const Weights& weights, const Inputs& batch) {
    const auto known = std::ranges::find(known_, shape_of(batch), &Pass::shape);
    if (known != known_.end()) {
        std::rotate(known, known + 1, known_.end());
    } else {
        if (known_.size() == kKnownPasses) known_.erase(known_.begin());
        known_.push_back(pass_for(weights, batch, std::nullopt));
    }
    return known_.back();
}

LossAndGradients Backpropagation::compute(const Pass& pass, const Weights& weights, const Inputs& batch) {
    const Plan& plan = *pass.plan;
    std::vector<Tensor> values(plan.steps().size());
    LossAndGradients result;
    for (std::size_t i = 0; i < pass.order.size(); ++i) {
        const Step& step = plan[pass.order[i]];
        Tensor& value = values[step.id];
        if (step.is_source()) {
            value = source_of(step, weights, batch).with_axes(step.axes);
        } else {
            Operands operands;
            for (const StepId operand : step.operands) operands.add(values[operand]);
            value = step.operation.compute(operands, step.axes);
        }
        if (const Ref parameter = parameter_of(plan, step)) result.gradients.emplace(parameter->name, value);
        for (const StepId freed : pass.freed_after[i]) values[freed] = Tensor();
    }
    result.loss = static_cast<double>(values[pass.loss].data()[0]);
    return result;
}

LossAndGradients Backpropagation::operator()(const Weights& weights, const Inputs& batch,
                                             std::optional<std::uint64_t> dropout_seed) {
    check_inputs(batch, config_);
    Inputs complete = batch;
    complete.targets = targets_of(batch);
    // A dropout's masks are part of its plan, so that is another one each time.
    if (dropout_seed && config_.dropout > 0.0)
        return compute(pass_for(weights, complete, dropout_seed), weights, complete);
    return compute(known_pass(weights, complete), weights, complete);
}

}  // namespace decoderscope
