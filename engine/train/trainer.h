#pragma once

#include "engine/decoder/decoder.h"
#include "engine/graph/plan.h"
#include "engine/graph/run.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::train {

// The gradient of the loss with respect to each parameter, by name; parameters that the loss doesn't depend on are left
// out.
using Gradients = Weights;

enum class OptimiserKind { sgd, adam, adamw };

// How weights follow their gradients: the arguments of torch.optim.SGD, Adam and AdamW, under their names.
struct OptimiserSettings {
    OptimiserKind kind = OptimiserKind::adam;
    double beta1 = 0.9, beta2 = 0.999;                  // Adam, AdamW
    double eps = 1e-8;                                  // Adam, AdamW
    double momentum = 0.0;                              // SGD
    std::optional<double> weight_decay = std::nullopt;  // PyTorch's default without one: AdamW 0.01, the others 0

    [[nodiscard]] double decay() const { return weight_decay.value_or(kind == OptimiserKind::adamw ? 0.01 : 0.0); }
    bool operator==(const OptimiserSettings&) const = default;
};

// An optimiser with its running means. A value: a copy goes on from the same point.
class Optimiser {
public:
    explicit Optimiser(OptimiserSettings settings) : settings_(settings) {}

    // Changes the weights for which there are gradients.
    void update(Weights& weights, const Gradients& gradients, double learning_rate);

    // How often it has done so.
    [[nodiscard]] Index updates() const { return updates_; }
    [[nodiscard]] const OptimiserSettings& settings() const { return settings_; }
    // Its running means.
    void for_each_tensor(const std::function<void(const Tensor&)>& work) const;

private:
    // What is kept of the gradients so far, in the shape of the parameter.
    struct Means {
        Tensor first;   // SGD's momentum, Adam's mean
        Tensor second;  // Adam's mean of squares
    };

    void follow_sgd(Tensor& weight, const Tensor& gradient, Means& means, float learning_rate) const;
    void follow_adam(Tensor& weight, const Tensor& gradient, Means& means, double learning_rate) const;

    OptimiserSettings settings_;
    Index updates_ = 0;
    std::map<std::string, Means, std::less<>> means_;
};

// The norm of all gradients as one vector.
[[nodiscard]] double total_norm(const Gradients& gradients);

// Scales all gradients so that their norm as one vector is at most this (torch.nn.utils.clip_grad_norm_). Returns the
// norm before.
double clip_norm(Gradients& gradients, double most);

struct LossAndGradients {
    double loss = 0.0;
    Gradients gradients;
};

// What has to be computed for batches of one shape, and in which order.
struct BackwardPlan;

// A pass there and back that is under way, step by step, so that the caller can pause between any two.
class BackwardRun {
public:
    // Computes the next step. Returns whether it was the last one. Throws Error as execute() does.
    bool advance();
    // After the last step, once.
    [[nodiscard]] LossAndGradients result() const;

private:
    friend class Backpropagation;
    BackwardRun(std::shared_ptr<const BackwardPlan> plan, const Weights& weights, const Inputs& batch);

    std::shared_ptr<const BackwardPlan> plan_;
    std::unique_ptr<Execution> execution_;
};

// The loss of a batch and its gradients with respect to the parameters, and nothing else: steps that neither needs are
// left out, and each tensor is freed after the last step that reads it. Plans are kept for the shapes of batch met
// lately.
class Backpropagation {
public:
    explicit Backpropagation(Config config) : config_(std::move(config)) {}

    // The loss is defined in engine/backward/gradient.h. Throws Error as plan_decoder() and execute() do.
    [[nodiscard]] LossAndGradients operator()(const Weights& weights, const Inputs& batch,
                                              std::optional<std::uint64_t> dropout_seed = std::nullopt);
    // As above, in slices; the weights must outlive the run.
    [[nodiscard]] BackwardRun begin(const Weights& weights, const Inputs& batch,
                                    std::optional<std::uint64_t> dropout_seed = std::nullopt);

private:
    [[nodiscard]] std::shared_ptr<const BackwardPlan> known_plan(const Weights& weights, const Inputs& batch);

    Config config_;
    std::vector<std::shared_ptr<const BackwardPlan>> known_;  // the last used last
};

// How a model is trained.
struct TrainingSettings {
    double learning_rate = 1e-3;
    Index warmup = 0;            // step t of the first so many has t / warmup of the learning rate
    std::optional<double> clip;  // the most that the gradients' norm may be
    OptimiserSettings optimiser;
    std::optional<std::uint64_t> dropout_seed;  // dropout is off without one
    bool operator==(const TrainingSettings&) const = default;
};

// The learning rate of a step; the first is 1.
[[nodiscard]] double learning_rate_at(Index step, const TrainingSettings& settings);

// What one step of training did.
struct TrainingStep {
    Index step = 0;     // the first is 1
    double loss = 0.0;  // of its batch, before the weights changed
    double learning_rate = 0.0;
    double gradient_norm = 0.0;  // of all gradients as one vector, before they were clipped
};

// A model in training. Each step is forward pass, loss, gradients with respect to the parameters, update. It is the
// same on every run: the numbers depend on weights, batches and settings alone. A value: copies share their tensors
// until one of them goes on, so that any step can be kept to return to.
class Trainer {
public:
    // `weights` as a model of this configuration has them.
    Trainer(const Config& config, Weights weights, TrainingSettings settings);

    // Trains on one batch. Throws Error naming the input that doesn't fit; nothing has changed then.
    TrainingStep train(const Inputs& batch);
    // As above, in two halves, so that the caller can pause: the gradients on a batch, and the update by them. The
    // weights must not change in between.
    [[nodiscard]] BackwardRun begin(const Inputs& batch);
    TrainingStep follow(LossAndGradients computed);

    [[nodiscard]] const Weights& weights() const { return weights_; }
    // The gradients of the last step, before they were clipped; empty before the first step.
    [[nodiscard]] const Gradients& gradients() const { return gradients_; }
    [[nodiscard]] Index steps() const { return optimiser_.updates(); }
    [[nodiscard]] const TrainingSettings& settings() const { return settings_; }
    // Everything that a copy keeps alive.
    void for_each_tensor(const std::function<void(const Tensor&)>& work) const;

private:
    Backpropagation backpropagation_;
    Weights weights_;
    Gradients gradients_;
    TrainingSettings settings_;
    Optimiser optimiser_;
};

}  // namespace decoderscope::train
