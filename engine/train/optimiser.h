#pragma once

#include "engine/graph/plan.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

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

}  // namespace decoderscope::train
