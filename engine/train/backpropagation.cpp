#include "engine/train/backpropagation.h"

#include "engine/graph/plan.h"

#include <algorithm>
#include <array>

namespace decoderscope {

struct BackwardPlan {
    std::vector<Axes> shape;  // of the inputs
    std::shared_ptr<const Plan> plan;
    NeededSteps steps;
    std::vector<const std::string*> gradient_by;  // beside the steps: the parameter of a gradient; else nullptr
    StepId loss = 0;
};

namespace {

constexpr std::size_t kKnownPlans = 16;

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
    const Ref by = step.gradient_of ? &plan[*step.gradient_of] : nullptr;
    return by != nullptr && by->role == Role::parameter && plan.gradient_by(*by) == &step ? by : nullptr;
}

bool is_wanted(const Plan& plan, const Step& step) {
    return step.name == "loss" || parameter_of(plan, step) != nullptr;
}

// The values of a parameter or an input for this batch.
const Tensor& source_of(const Step& step, const Weights& weights, const Inputs& batch) {
    if (step.role == Role::parameter) return weights.find(step.name)->second;
    return batch.*std::ranges::find(kInputs, std::string_view(step.name), &NamedInput::name)->member;
}

std::shared_ptr<const BackwardPlan> plan_backward(const Config& config, const Weights& weights, const Inputs& batch,
                                                  std::optional<std::uint64_t> dropout_seed) {
    BackwardPlan backward{.shape = shape_of(batch),
                          .plan = plan_decoder({.config = config,
                                                .weights = &weights,
                                                .inputs = batch,
                                                .edits = {},
                                                .dropout_seed = dropout_seed,
                                                .gradients_of = "loss",
                                                .gradients_by = GradientsBy::parameters})};
    const Plan& plan = *backward.plan;
    backward.loss = plan.find("loss")->id;
    backward.steps = needed_steps(plan, [&](const Step& step) { return is_wanted(plan, step); });
    for (const StepId id : backward.steps.order) {
        const Ref parameter = parameter_of(plan, plan[id]);
        backward.gradient_by.push_back(parameter != nullptr ? &parameter->name : nullptr);
    }
    return std::make_shared<const BackwardPlan>(std::move(backward));
}

}  // namespace

BackwardRun::BackwardRun(std::shared_ptr<const BackwardPlan> plan, const Weights& weights, Inputs batch)
    : plan_(std::move(plan)), weights_(&weights), batch_(std::move(batch)), values_(plan_->plan->steps().size()) {}

bool BackwardRun::advance() {
    const Plan& plan = *plan_->plan;
    const Step& step = plan[plan_->steps.order[next_]];
    Tensor& value = values_[step.id];
    if (step.is_source()) {
        value = source_of(step, *weights_, batch_).with_axes(step.axes);
    } else {
        Operands operands;
        for (const StepId operand : step.operands) operands.add(values_[operand]);
        value = step.operation.compute(operands, step.axes);
    }
    if (step.id == plan_->loss) result_.loss = static_cast<double>(value.data()[0]);
    if (const std::string* parameter = plan_->gradient_by[next_]) result_.gradients.emplace(*parameter, value);
    for (const StepId freed : plan_->steps.freed_after[next_]) values_[freed] = Tensor();
    return ++next_ == plan_->steps.order.size();
}

std::shared_ptr<const BackwardPlan> Backpropagation::known_plan(const Weights& weights, const Inputs& batch) {
    const auto known = std::ranges::find(known_, shape_of(batch), [](const auto& plan) { return plan->shape; });
    if (known != known_.end()) {
        std::rotate(known, known + 1, known_.end());
    } else {
        if (known_.size() == kKnownPlans) known_.erase(known_.begin());
        known_.push_back(plan_backward(config_, weights, batch, std::nullopt));
    }
    return known_.back();
}

BackwardRun Backpropagation::begin(const Weights& weights, const Inputs& batch,
                                   std::optional<std::uint64_t> dropout_seed) {
    check_inputs(batch, config_);
    Inputs complete = batch;
    complete.targets = targets_of(batch);
    // A dropout's masks are part of its plan, so that is another one each time.
    const bool drops = dropout_seed && config_.dropout > 0.0;
    auto plan = drops ? plan_backward(config_, weights, complete, dropout_seed) : known_plan(weights, complete);
    return {std::move(plan), weights, std::move(complete)};
}

LossAndGradients Backpropagation::operator()(const Weights& weights, const Inputs& batch,
                                             std::optional<std::uint64_t> dropout_seed) {
    BackwardRun run = begin(weights, batch, dropout_seed);
    while (!run.advance()) {
    }
    return run.result();
}

}  // namespace decoderscope
