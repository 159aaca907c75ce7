#include "engine/train/optimiser.h"

#include <algorithm>
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

}  // namespace decoderscope::train
