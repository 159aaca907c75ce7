#include "app/core/train/training_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace decoderscope::core::train {

namespace {

Config small_decoder(bool norm_first, const decoderscope::train::Task& task) {
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

constexpr Index kStepsOfSlice = 16;  // that many steps of a pass

std::vector<double> norms_by_layer(const decoderscope::train::Gradients& gradients, const std::string& prefix,
                                   Index layers) {
    std::vector<double> norms;
    for (Index layer = 0; layer < layers; ++layer) {
        const std::string at = prefix + "layers." + std::to_string(layer);
        auto found = gradients.find(at + ".down_proj.weight");
        if (found == gradients.end()) found = gradients.find(at + ".self_attn.o_proj.weight");
        if (found != gradients.end()) norms.push_back(euclidean_norm(found->second));
    }
    return norms;
}

Resumable<decoderscope::train::TrainingStep> trained(decoderscope::train::Trainer& trainer, const Inputs& batch) {
    decoderscope::train::BackwardRun run = trainer.begin(batch);
    for (Index steps = 1; !run.advance(); ++steps)
        if (steps % kStepsOfSlice == 0) co_yield kPause;
    co_return trainer.follow(run.result());
}

}  // namespace

decoderscope::train::Trainer first_trainer(const Recipe& recipe) {
    return {recipe.config, decoder::initial_weights(recipe.config, recipe.seed, recipe.initialisation),
            recipe.settings};
}

Inputs batch_of(const Recipe& recipe, Index step) { return recipe.task.batch(recipe.seed, step, recipe.rows); }

std::vector<Recipe> norms_and_warmup(std::uint64_t seed) {
    const auto recipe = [&](Sentence title, bool norm_first, Index warmup) {
        const decoderscope::train::Task task = decoderscope::train::reversal_task(6);
        decoderscope::train::TrainingSettings settings{.learning_rate = 1e-2, .warmup = warmup};
        settings.optimiser = {
            .kind = decoderscope::train::OptimiserKind::adam, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9};
        return Recipe{.title = std::move(title),
                      .config = small_decoder(norm_first, task),
                      .initialisation = decoder::Initialisation::xavier,
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

TrainingRun::TrainingRun(Recipe recipe) : recipe_(std::move(recipe)), now_(first_trainer(recipe_)) { keep(); }

Resumable<Done> TrainingRun::advance() {
    const Inputs batch = batch_of(recipe_, now_.steps() + 1);
    const decoderscope::train::TrainingStep step = co_await trained(now_, batch);
    history_.push_back({step, norms_by_layer(now_.gradients(), "", recipe_.config.num_layers),
                        norms_by_layer(now_.gradients(), "encoder.", recipe_.config.encoder_layers)});
    keep();
    co_return Done{};
}

// Once there are too many, every second one is dropped.
void TrainingRun::keep() {
    if (now_.steps() % apart_ != 0) return;
    kept_.emplace(now_.steps(), now_);
    if (kept_.size() > kKept) {
        apart_ *= 2;
        std::erase_if(kept_, [this](const auto& entry) { return entry.first % apart_ != 0; });
    }
    count_kept_bytes();
}

Resumable<decoderscope::train::Trainer> TrainingRun::at(Index step) const {
    decoderscope::train::Trainer trainer = std::prev(kept_.upper_bound(step))->second;
    while (trainer.steps() < step) {
        const Inputs batch = batch_of(recipe_, trainer.steps() + 1);
        co_await trained(trainer, batch);
    }
    co_return trainer;
}

std::vector<Index> TrainingRun::kept_steps() const {
    std::vector<Index> steps;
    for (const auto& [step, trainer] : kept_) steps.push_back(step);
    return steps;
}

void TrainingRun::count_kept_bytes() {
    std::vector<std::pair<const void*, std::size_t>> all;
    for (const auto& [step, trainer] : kept_)
        trainer.for_each_tensor([&all](const Tensor& tensor) {
            if (!tensor.empty())
                all.emplace_back(tensor.identity().get(), static_cast<std::size_t>(tensor.size()) * sizeof(float));
        });
    std::ranges::sort(all);
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    kept_bytes_ = 0;
    for (const auto& [storage, size] : all) kept_bytes_ += size;
}

}  // namespace decoderscope::core::train
