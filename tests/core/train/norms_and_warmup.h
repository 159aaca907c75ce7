#pragma once

#include "app/core/train/training_board.h"
#include "engine/base/message.h"
#include "engine/decoder/initial_weights.h"
#include "engine/model/config.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace decoderscope::testing {

inline Config small_decoder(bool norm_first, const decoderscope::train::Task& task) {
    Config config;
    config.d_model = 32;
    config.nhead = config.num_key_value_heads = 4;
    config.num_layers = 6;
    config.dim_feedforward = 128;
    config.norm_first = config.final_norm = norm_first;
    config.vocab_size = config.encoder_vocab_size = static_cast<Index>(task.vocabulary.size());
    config.positional_encoding = PositionalEncoding::sinusoidal;
    config.lm_head = true;
    return config;
}

// The three runs of plan_of_warmup() (app/core/train/training_plan.h), written down without a plan.
inline std::vector<core::train::Recipe> norms_and_warmup(std::uint64_t seed) {
    const auto recipe = [&](Sentence title, bool norm_first, Index warmup) {
        const decoderscope::train::Task task = decoderscope::train::reversal_task(6);
        decoderscope::train::TrainingSettings settings{.learning_rate = 1e-2, .warmup = warmup};
        settings.optimiser = {
            .kind = decoderscope::train::OptimiserKind::adam, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
        return core::train::Recipe{.title = std::move(title),
                                   .config = small_decoder(norm_first, task),
                                   .initialisation = decoder::Initialisation::xavier,
                                   .seed = seed,
                                   .task = task,
                                   .rows = 64,
                                   .steps = 300,
                                   .settings = settings};
    };
    return {recipe(Sentence::verbatim("Post-Norm without warm-up"), false, 0),
            recipe(Sentence::verbatim("Pre-Norm without warm-up"), true, 0),
            recipe(Sentence::verbatim("Post-Norm with warm-up"), false, 150)};
}

}  // namespace decoderscope::testing
