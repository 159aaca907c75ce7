#pragma once

#include "engine/train/backpropagation.h"
#include "engine/train/optimiser.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace decoderscope::train {

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
