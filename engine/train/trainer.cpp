#include "engine/train/trainer.h"

#include "engine/base/random.h"

#include <algorithm>

namespace decoderscope::train {

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

}  // namespace decoderscope::train
