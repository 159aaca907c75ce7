#include "app/core/train/recipe.h"

namespace decoderscope {

namespace {

Config small_decoder(bool norm_first, const Task& task) {
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

}  // namespace

Trainer first_trainer(const Recipe& recipe) {
    return {recipe.config, initial_weights(recipe.config, recipe.seed, recipe.initialisation), recipe.settings};
}

Inputs batch_of(const Recipe& recipe, Index step) { return recipe.task.batch(recipe.seed, step, recipe.rows); }

std::vector<Recipe> norms_and_warmup(std::uint64_t seed) {
    const auto recipe = [&](Sentence title, bool norm_first, Index warmup) {
        const Task task = reversal_task(6);
        TrainingSettings settings{.learning_rate = 1e-2, .warmup = warmup};
        settings.optimiser = {.kind = OptimiserKind::adam, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
        return Recipe{.title = std::move(title),
                      .config = small_decoder(norm_first, task),
                      .initialisation = Initialisation::xavier,
                      .seed = seed,
                      .task = task,
                      .rows = 64,
                      .steps = 300,
                      .settings = settings};
    };
    return {recipe(message("Post-Norm without warm-up"), false, 0),
            recipe(message("Pre-Norm without warm-up"), true, 0),
            recipe(message("Post-Norm with warm-up"), false, 150)};
}

}  // namespace decoderscope
