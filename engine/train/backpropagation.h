#pragma once

#include "engine/decoder/decoder.h"
#include "engine/graph/run.h"
#include "engine/train/optimiser.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope::train {

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

}  // namespace decoderscope::train
