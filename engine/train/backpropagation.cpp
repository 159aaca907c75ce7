#include "engine/train/backpropagation.h"

#include "engine/graph/plan.h"

#include <algorithm>
#include <array>

namespace decoderscope::train {

struct BackwardPlan {
    std::vector<Axes> shape;  // of the inputs
    std::shared_ptr<const Plan> plan;
    NeededSteps steps;
    std::vector<std::pair<std::string, StepId>> gradients;  // by the parameter's name
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

// The parameter that a step is the gradient with respect to; nullptr if it isn't one.
Ref parameter_of(const Plan& plan, const Step& step) {
    const Ref by = step.gradient_wrt ? &plan[*step.gradient_wrt] : nullptr;
    return by != nullptr && by->role == Role::parameter && plan.gradient_wrt(*by) == &step ? by : nullptr;
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
                          .plan = decoder::plan_decoder({.config = config,
                                                         .weights = &weights,
                                                         .inputs = batch,
                                                         .edits = {},
                                                         .dropout_seed = dropout_seed,
                                                         .gradient_target = "loss",
                                                         .gradients_by = backward::GradientsBy::parameters})};
    const Plan& plan = *backward.plan;
    backward.loss = plan.find("loss")->id;
    backward.steps = needed_steps(plan, [&](const Step& step) { return is_wanted(plan, step); });
    for (const StepId id : backward.steps.order)
        if (const Ref parameter = parameter_of(plan, plan[id])) backward.gradients.emplace_back(parameter->name, id);
    return std::make_shared<const BackwardPlan>(std::move(backward));
}

}  // namespace

BackwardRun::BackwardRun(std::shared_ptr<const BackwardPlan> plan, const Weights& weights, const Inputs& batch)
    : plan_(std::move(plan)) {
    ExecuteOptions options;
    options.needed = &plan_->steps;
    options.source = [&weights, batch](const Step& step) { return source_of(step, weights, batch); };
    execution_ = std::make_unique<Execution>(plan_->plan, options);
}

bool BackwardRun::advance() { return execution_->advance(); }

LossAndGradients BackwardRun::result() const {
    const std::shared_ptr<const Run> run = execution_->run();
    LossAndGradients made;
    made.loss = static_cast<double>(run->value(plan_->loss).data()[0]);
    for (const auto& [parameter, gradient] : plan_->gradients) made.gradients.emplace(parameter, run->value(gradient));
    return made;
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
    complete.targets = backward::targets_of(batch);
    // A dropout's masks are part of its plan, so that is another one each time.
    const bool drops = dropout_seed && config_.dropout > 0.0;
    auto plan = drops ? plan_backward(config_, weights, complete, dropout_seed) : known_plan(weights, complete);
    return {std::move(plan), weights, complete};
}

LossAndGradients Backpropagation::operator()(const Weights& weights, const Inputs& batch,
                                             std::optional<std::uint64_t> dropout_seed) {
    BackwardRun run = begin(weights, batch, dropout_seed);
    while (!run.advance()) {
    }
    return run.result();
}

}  // namespace decoderscope::train
