#pragma once

#include "engine/message.h"
#include "engine/model/config.h"
#include "engine/model/initial_weights.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"

#include <cstdint>
#include <vector>

namespace decoderscope {

// A training from the first weights to the last step: everything that its numbers depend on.
struct Recipe {
    Sentence title;  // what tells it from the runs beside it: "Post-Norm, warm-up"
    Config config;
    Initialisation initialisation = Initialisation::pytorch;
    std::uint64_t seed = 0;  // of weights and batches
    Task task;
    Index rows = 32;  // in a batch
    Index steps = 300;
    TrainingSettings settings;
};

// Where it begins, and the batch of a step (the first is 1).
[[nodiscard]] Trainer first_trainer(const Recipe& recipe);
[[nodiscard]] Inputs batch_of(const Recipe& recipe, Index step);

// The three runs that show what warm-up is for: a decoder of 6 layers, begun by Xavier's rule, reverses words of 1 to 6
// letters. Post-Norm without warm-up learns nothing; Pre-Norm without it and Post-Norm with it do. Chance is a loss of
// 3.06.
[[nodiscard]] std::vector<Recipe> norms_and_warmup(std::uint64_t seed);

}  // namespace decoderscope
