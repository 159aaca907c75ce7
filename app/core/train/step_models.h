#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/train/training_board.h"
#include "engine/load/model.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace decoderscope::core::train {

// A training: each call gives the weights after one more step, the first call those before any.
using Course = std::function<Weights()>;

// Whose weights a model has: those after a step of a training. What is nothing is the training's own.
struct TrainingPoint {
    Index step = 0;
    std::optional<std::uint64_t> seed = {};        // of first weights and batches
    std::optional<std::uint64_t> batch_seed = {};  // of the batches alone
    std::optional<double> learning_rate = {};
    auto operator<=>(const TrainingPoint&) const = default;
};

// The models of the points of a training. Each slice trains one step.
using ModelsByStep = std::function<Resumable<std::shared_ptr<const load::Model>>(TrainingPoint point)>;

// As `model` with other weights. They are remembered; an earlier step that isn't is trained anew, from the beginning:
// training gives the same bits each time.
[[nodiscard]] ModelsByStep models_by_step(std::function<Course(const TrainingPoint& of)> begin,
                                          std::shared_ptr<const load::Model> model);
// As above, of a training in the window.
[[nodiscard]] ModelsByStep models_by_step(std::shared_ptr<const Recipe> recipe,
                                          std::shared_ptr<const load::Model> model);

}  // namespace decoderscope::core::train
