#pragma once

#include "engine/decoder/decoder.h"
#include "engine/train/optimiser.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace decoderscope {

struct LossAndGradients {
    double loss = 0.0;
    Gradients gradients;
};

// The loss of a batch and its gradients by the parameters, and nothing else: the steps that neither needs are left out,
// and each tensor is freed after the last step that reads it. Plans are kept for the shapes of batch met lately.
class Backpropagation {
public:
    explicit Backpropagation(Config config) : config_(std::move(config)) {}

    // The loss is defined in engine/gradient.h. Throws Error as plan_decoder() and execute() do.
    [[nodiscard]] LossAndGradients operator()(const Weights& weights, const Inputs& batch,
                                              std::optional<std::uint64_t> dropout_seed = std::nullopt);

private:
    // What has to be computed for batches of one shape, and in which order.
    struct Pass {
        std::vector<Axes> shape;  // of the inputs
        std::shared_ptr<const Plan> plan;
        std::vector<StepId> order;
        std::vector<std::vector<StepId>> freed_after;  // beside `order`: the tensors that are no longer needed
        StepId loss = 0;
    };

    [[nodiscard]] Pass pass_for(const Weights& weights, const Inputs& batch, std::optional<std::uint64_t> dropout_seed);
    [[nodiscard]] const Pass& known_pass(const Weights& weights, const Inputs& batch);
    [[nodiscard]] static LossAndGradients compute(const Pass& pass, const Weights& weights, const Inputs& batch);

    Config config_;
    std::vector<Pass> known_;  // the last used last
};

}  // namespace decoderscope
