#pragma once

#include "app/core/jobs/resumable.h"
#include "app/core/train/training_board.h"
#include "engine/load/model.h"

#include <functional>
#include <memory>

namespace decoderscope::core::train {

// A training: each call gives the weights after one more step, the first call those before any.
using Course = std::function<Weights()>;

// The models after the steps of a training. Each slice trains one step.
using ModelsByStep = std::function<Resumable<std::shared_ptr<const load::Model>>(Index step)>;

// As `model` with other weights. They are remembered; an earlier step that isn't is trained anew, from the beginning:
// training gives the same bits each time.
[[nodiscard]] ModelsByStep models_by_step(std::function<Course()> begin, std::shared_ptr<const load::Model> model);
// As above, of a training in the window.
[[nodiscard]] ModelsByStep models_by_step(std::shared_ptr<const Recipe> recipe,
                                          std::shared_ptr<const load::Model> model);

}  // namespace decoderscope::core::train
