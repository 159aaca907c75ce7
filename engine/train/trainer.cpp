#include "engine/train/trainer.h"

#include "engine/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace decoderscope::train {

namespace {

Tensor zeros(const Axes& axes) {
    Tensor tensor(axes);
    std::ranges::fill(tensor.writable(), 0.0F);
    return tensor;
}

}  // namespace

// torch.optim.SGD: the first momentum is the gradient itself.
void Optimiser::follow_sgd(Tensor& weight, const Tensor& gradient, Means& means, float learning_rate) const {
    const auto decay = static_cast<float>(settings_.decay()), momentum = static_cast<float>(settings_.momentum);
    if (means.first.empty()) means.first = zeros(weight.axes());
    float* w = weight.writable().data();
    float* mean = means.first.writable().data();
    const float* g = gradient.data();
    for (Index i = 0; i < weight.size(); ++i) {
        mean[i] = momentum * mean[i] + g[i] + decay * w[i];
        w[i] -= learning_rate * mean[i];
    }
}

// torch.optim.Adam, and AdamW, which takes the decay off the weight itself instead of adding it to the gradient.
void Optimiser::follow_adam(Tensor& weight, const Tensor& gradient, Means& means, double learning_rate) const {
    const bool decoupled = settings_.kind == OptimiserKind::adamw;
    const auto steps = static_cast<double>(updates_);
    const double unbiased1 = 1.0 - std::pow(settings_.beta1, steps), unbiased2 = 1.0 - std::pow(settings_.beta2, steps);
    const auto beta1 = static_cast<float>(settings_.beta1), beta2 = static_cast<float>(settings_.beta2);
    const auto new1 = static_cast<float>(1.0 - settings_.beta1), new2 = static_cast<float>(1.0 - settings_.beta2);
    const auto eps = static_cast<float>(settings_.eps), step = static_cast<float>(learning_rate / unbiased1);
    const auto over_root = static_cast<float>(1.0 / std::sqrt(unbiased2));
    const auto kept = static_cast<float>(decoupled ? 1.0 - learning_rate * settings_.decay() : 1.0);
    const auto added = static_cast<float>(decoupled ? 0.0 : settings_.decay());
    if (means.first.empty()) means = {zeros(weight.axes()), zeros(weight.axes())};
    float* w = weight.writable().data();
    float* mean = means.first.writable().data();
    float* square = means.second.writable().data();
    const float* gradients = gradient.data();
    for (Index i = 0; i < weight.size(); ++i) {
        const float g = gradients[i] + added * w[i];
        mean[i] = beta1 * mean[i] + new1 * g;
        square[i] = beta2 * square[i] + new2 * g * g;
        w[i] = kept * w[i] - step * mean[i] / (std::sqrt(square[i]) * over_root + eps);
    }
}

void Optimiser::update(Weights& weights, const Gradients& gradients, double learning_rate) {
    ++updates_;
    for (const auto& [name, gradient] : gradients) {
        Tensor& weight = weights.find(name)->second;
        Means& means = means_[name];
        if (settings_.kind == OptimiserKind::sgd)
            follow_sgd(weight, gradient, means, static_cast<float>(learning_rate));
        else
            follow_adam(weight, gradient, means, learning_rate);
    }
}

void Optimiser::for_each_tensor(const std::function<void(const Tensor&)>& work) const {
    for (const auto& [name, means] : means_) {
        work(means.first);
        work(means.second);
    }
}

double total_norm(const Gradients& gradients) {
    double squares = 0.0;
    for (const auto& [name, gradient] : gradients)
        for (const float g : gradient.values()) squares += static_cast<double>(g) * static_cast<double>(g);
    return std::sqrt(squares);
}

double clip_norm(Gradients& gradients, double most) {
    const double norm = total_norm(gradients);
    const double factor = most / (norm + 1e-6);
    if (factor >= 1.0) return norm;
    for (auto& [name, gradient] : gradients)
        for (float& g : gradient.writable()) g *= static_cast<float>(factor);
    return norm;
}

double learning_rate_at(Index step, const TrainingSettings& settings) {
    if (settings.warmup <= 0) return settings.learning_rate;
    const double share = static_cast<double>(step) / static_cast<double>(settings.warmup);
    return settings.learning_rate * std::min(share, 1.0);
}

Trainer::Trainer(const Config& config, Weights weights, TrainingSettings settings)
    : backpropagation_(config), weights_(std::move(weights)), settings_(settings), optimiser_(settings.optimiser) {}

void Trainer::for_each_tensor(const std::function<void(const Tensor&)>& work) const {
    for (const auto& [name, weight] : weights_) work(weight);
    for (const auto& [name, gradient] : gradients_) work(gradient);
    optimiser_.for_each_tensor(work);
}

BackwardRun Trainer::begin(const Inputs& batch) {
    std::optional<std::uint64_t> seed;
    if (settings_.dropout_seed)
        seed = RandomStream(*settings_.dropout_seed, "dropout").bits(static_cast<std::uint64_t>(steps() + 1));
    return backpropagation_.begin(weights_, batch, seed);
}

TrainingStep Trainer::follow(LossAndGradients computed) {
    const Index step = steps() + 1;
    gradients_ = computed.gradients;
    const double norm = settings_.clip ? clip_norm(computed.gradients, *settings_.clip) : total_norm(gradients_);
    const double rate = learning_rate_at(step, settings_);
    optimiser_.update(weights_, computed.gradients, rate);
    return {step, computed.loss, rate, norm};
}

TrainingStep Trainer::train(const Inputs& batch) {
    BackwardRun run = begin(batch);
    while (!run.advance()) {
    }
    return follow(run.result());
}

struct BackwardPlan {
    std::vector<Axes> shape;  // of the inputs
    std::shared_ptr<const Plan> plan;
    NeededSteps steps;
    std::vector<std::pair<std::string, StepId>> gradients;  // by the parameter's name
    StepId loss = 0;
};

namespace {

constexpr std::size_t kKnownPlans = 16;

std::vector<Axes> shape_of(const Inputs& batch) {
    std::vector<Axes> shape;
    for (const InputSlot& input : input_slots()) shape.push_back((batch.*input.member).axes());
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
    return batch.*std::ranges::find(input_slots(), std::string_view(step.name), &InputSlot::name)->member;
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
