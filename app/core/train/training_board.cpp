#include "app/core/train/training_board.h"

#include "app/core/train/training_plan.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <mutex>
#include <utility>

namespace decoderscope::core::train {

namespace {

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

// The matrices of a layer that make its sublayers' updates longer.
constexpr std::array kOfUpdates = {"self_attn.v_proj",  "self_attn.o_proj", "cross_attn.v_proj",
                                   "cross_attn.o_proj", "up_proj",          "down_proj"};

void scale_updates(Weights& weights, const std::string& prefix, Index layers, double gain) {
    if (gain == 1.0) return;
    for (Index layer = 0; layer < layers; ++layer)
        for (const char* matrix : kOfUpdates) {
            const auto found = weights.find(prefix + "layers." + std::to_string(layer) + "." + matrix + ".weight");
            if (found == weights.end()) continue;
            for (float& value : found->second.writable()) value *= static_cast<float>(gain);
        }
}

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenViews{60};
constexpr std::chrono::milliseconds kBetweenModels{250};

}  // namespace

decoderscope::train::Trainer first_trainer(const Recipe& recipe) {
    Weights weights = decoder::initial_weights(recipe.config, recipe.seed, recipe.initialisation);
    scale_updates(weights, "", recipe.config.num_layers, recipe.decoder_gain);
    scale_updates(weights, "encoder.", recipe.config.encoder_layers, recipe.encoder_gain);
    return {recipe.config, std::move(weights), recipe.settings};
}

Inputs batch_of(const Recipe& recipe, Index step) { return recipe.task.batch(recipe.seed, step, recipe.rows); }

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

struct TrainingBoard::State {
    std::function<void()> wake;
    // Used only by the work. While steps are trained, each run belongs to the thread that trains it.
    std::vector<TrainingRun> runs;
    Clock::time_point viewed, modelled;

    // Used by all threads, under the mutex.
    mutable std::mutex mutex;
    std::vector<SeenTraining> seen;
    std::optional<Index> wanted;  // the step that is shown; nothing: the newest
    bool wanted_is_new = false;
    bool paused = false;
    bool all_done = false;
    Sentence failure;           // why it stopped, until that is told
    std::vector<bool> trained;  // of each run, whether a step of it is under way

    // The next step of the run that has done the fewest, among runs that are neither done nor under way; none while
    // paused.
    std::optional<Resumable<Done>> next_step() {
        const std::lock_guard lock(mutex);
        std::optional<std::size_t> first;
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (!trained[i] && !runs[i].finished() && (!first || runs[i].now().steps() < runs[*first].now().steps()))
                first = i;
        all_done = !first && std::ranges::find(trained, true) == trained.end();
        if (paused || !first) return std::nullopt;
        trained[*first] = true;
        return step_of(*first);
    }

    Resumable<Done> step_of(std::size_t number) {
        co_await runs[number].advance();
        const std::lock_guard lock(mutex);
        trained[number] = false;
        co_return Done{};
    }

    // The runs stay as they were after their last steps.
    void fail(const Sentence& error) {
        {
            const std::lock_guard lock(mutex);
            failure = error;
            trained.assign(trained.size(), false);
            paused = true;
        }
        if (wake) wake();
    }

    struct Wish {
        std::optional<Index> step;
    };
    std::optional<Wish> take_wish() {
        const std::lock_guard lock(mutex);
        if (!std::exchange(wanted_is_new, false)) return std::nullopt;
        return Wish{wanted};
    }

    void publish_history() {
        std::vector<std::shared_ptr<const std::vector<TrainedStep>>> histories;
        for (const TrainingRun& run : runs)
            histories.push_back(std::make_shared<const std::vector<TrainedStep>>(run.history()));
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            seen[i].history = histories[i];
            seen[i].kept_bytes = runs[i].kept_bytes();
            seen[i].kept_steps = runs[i].kept_steps().size();
        }
    }

    void publish_model(std::size_t number, const decoderscope::train::Trainer& trainer) {
        std::shared_ptr<const load::Model> model = model_of(runs[number].recipe(), trainer.weights(), trainer.steps());
        const std::lock_guard lock(mutex);
        seen[number].model = std::move(model);
        seen[number].step = trainer.steps();
    }

    [[nodiscard]] bool follows_newest() const {
        const std::lock_guard lock(mutex);
        return !wanted;
    }

    void publish(bool at_once) {
        const Clock::time_point now = Clock::now();
        if (!at_once && now - viewed < kBetweenViews) return;
        viewed = now;
        publish_history();
        if (follows_newest() && (at_once || now - modelled >= kBetweenModels)) {
            modelled = now;
            for (std::size_t i = 0; i < runs.size(); ++i) publish_model(i, runs[i].now());
        }
        if (wake) wake();
    }

    Resumable<Done> show_model(std::size_t number, Wish wish) {
        const Index last = runs[number].now().steps();
        const decoderscope::train::Trainer trainer = co_await runs[number].at(std::min(wish.step.value_or(last), last));
        publish_model(number, trainer);
        if (wake) wake();
        co_return Done{};
    }

    Resumable<Done> show(Wish wish) {
        std::size_t begun = 0;
        SideBySide models([&]() -> std::optional<Resumable<Done>> {
            if (begun == runs.size()) return std::nullopt;
            return show_model(begun++, wish);
        });
        while (models.advance()) co_yield kPause;
        co_return Done{};
    }

    static Resumable<Done> work(std::shared_ptr<State> state, std::stop_token stop) {
        SideBySide steps([&state] { return state->next_step(); });
        while (!stop.stop_requested()) {
            if (const std::optional<Wish> wish = state->take_wish()) {
                co_await state->show(*wish);
            } else {
                if (!steps.advance()) break;
                state->publish(false);
            }
            co_yield kPause;
        }
        state->publish(true);
        co_return Done{};
    }
};

TrainingBoard::TrainingBoard(std::function<void()> wake) : state_(std::make_shared<State>()) {
    state_->wake = std::move(wake);
}

void TrainingBoard::work() {
    runner_.start([state = state_](const std::stop_token& stop) { return State::work(state, stop); },
                  [state = state_](const Sentence& error, const std::stop_token&) { state->fail(error); });
}

void TrainingBoard::start(const std::vector<Recipe>& recipes) {
    const auto fresh = std::make_shared<State>();
    fresh->wake = state_->wake;
    for (const Recipe& recipe : recipes) {
        fresh->runs.emplace_back(recipe);
        fresh->trained.push_back(false);
        fresh->seen.push_back({.recipe = std::make_shared<const Recipe>(recipe),
                               .history = std::make_shared<const std::vector<TrainedStep>>(),
                               .model = nullptr});
    }
    runner_.forget();
    state_ = fresh;
    work();
}

void TrainingBoard::clear() {
    runner_.forget();
    const auto fresh = std::make_shared<State>();
    fresh->wake = state_->wake;
    state_ = fresh;
}

void TrainingBoard::pause() {
    const std::lock_guard lock(state_->mutex);
    state_->paused = true;
}

void TrainingBoard::go_on() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->paused = false;
    }
    work();
}

void TrainingBoard::look_at(std::optional<Index> step) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->wanted == step) return;
        state_->wanted = step;
        state_->wanted_is_new = true;
    }
    work();
}

std::vector<SeenTraining> TrainingBoard::seen() const {
    const std::lock_guard lock(state_->mutex);
    return state_->seen;
}

Sentence TrainingBoard::take_failure() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->failure, {});
}

bool TrainingBoard::paused() const {
    const std::lock_guard lock(state_->mutex);
    return state_->paused;
}

bool TrainingBoard::finished() const {
    const std::lock_guard lock(state_->mutex);
    return state_->all_done && !state_->seen.empty();
}

}  // namespace decoderscope::core::train
