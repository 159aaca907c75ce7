#pragma once

#include "app/core/jobs/job.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/message.h"
#include "engine/decoder/initial_weights.h"
#include "engine/load/model.h"
#include "engine/model/config.h"
#include "engine/train/tasks.h"
#include "engine/train/trainer.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope::core::train {

// A training from the first weights to the last step: everything that its numbers depend on.
struct Recipe {
    Sentence title;  // what tells it from the runs beside it: "Post-Norm, warm-up"
    Config config;
    decoder::Initialisation initialisation = decoder::Initialisation::pytorch;
    std::uint64_t seed = 0;  // of weights and batches
    // What the first weights of v_proj, o_proj and the MLP are multiplied by: DeepNorm's β.
    double decoder_gain = 1.0, encoder_gain = 1.0;
    decoderscope::train::Task task;
    Index rows = 32;  // in a batch
    Index steps = 300;
    decoderscope::train::TrainingSettings settings;
};

// Where it begins, and the batch of a step (the first is 1).
[[nodiscard]] decoderscope::train::Trainer first_trainer(const Recipe& recipe);
[[nodiscard]] Inputs batch_of(const Recipe& recipe, Index step);

// What is remembered of each step of a training.
struct TrainedStep {
    decoderscope::train::TrainingStep step;
    // The norm of the gradient with respect to the MLP's second matrix W2 in each layer, of the decoder and of the
    // encoder; of o_proj if there is no MLP. Before the gradients were clipped.
    std::vector<double> decoder_gradients, encoder_gradients;
};

// A training under way, with its whole history: it can return to any of its steps. Some steps are kept whole, at most
// kKept of them: close together at first, further apart the longer it lasts. The others are trained again from the one
// kept before; training gives the same bits each time.
class TrainingRun {
public:
    static constexpr std::size_t kKept = 32;

    explicit TrainingRun(Recipe recipe);

    [[nodiscard]] const Recipe& recipe() const { return recipe_; }
    [[nodiscard]] bool finished() const { return now_.steps() >= recipe_.steps; }
    // Trains one step. Pauses within it; must not be called again before it has ended.
    [[nodiscard]] Resumable<Done> advance();

    [[nodiscard]] const std::vector<TrainedStep>& history() const { return history_; }
    // The model after the last step.
    [[nodiscard]] const decoderscope::train::Trainer& now() const { return now_; }
    // The model after a step that was already done; 0 is the beginning.
    [[nodiscard]] Resumable<decoderscope::train::Trainer> at(Index step) const;
    // The steps that are kept whole, and what they take. A tensor that several of them share counts once.
    [[nodiscard]] std::vector<Index> kept_steps() const;
    [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

private:
    void keep();
    void count_kept_bytes();

    Recipe recipe_;
    decoderscope::train::Trainer now_;
    std::vector<TrainedStep> history_;
    std::map<Index, decoderscope::train::Trainer> kept_;
    Index apart_ = 1;  // how many steps lie between two kept ones
    std::size_t kept_bytes_ = 0;
};

// What can be seen of a training under way: plain values that no longer change.
struct SeenTraining {
    std::shared_ptr<const Recipe> recipe;
    std::shared_ptr<const std::vector<TrainedStep>> history;  // never nullptr
    std::shared_ptr<const load::Model> model;                 // after `step`; nullptr until one was made
    Index step = 0;
    std::size_t kept_bytes = 0, kept_steps = 0;
};

// Trainings side by side, in the background: all advance together, step by step. Any step that was done can be looked
// at. Used from the window's thread alone.
class TrainingBoard {
public:
    // `wake` is called when there is something new, from another thread if there are threads.
    explicit TrainingBoard(std::function<void()> wake = {});

    // Begins these trainings, and drops the previous ones. Throws Error if one can't begin.
    void start(const std::vector<Recipe>& recipes);
    void pause();
    void go_on();
    // Drops everything.
    void clear();

    // Shows the models after this step, or after the last one that is done if there are fewer; without one, after the
    // newest from now on.
    void look_at(std::optional<Index> step);

    [[nodiscard]] std::vector<SeenTraining> seen() const;
    // Whether something is computed: a step, or a model to look at.
    [[nodiscard]] bool busy() const { return runner_.busy(); }
    [[nodiscard]] bool paused() const;
    // Why it was stopped by an error, once; it is paused then.
    [[nodiscard]] Sentence take_failure();
    // Whether all runs have done all their steps.
    [[nodiscard]] bool finished() const;

    // Waits until nothing is under way.
    void finish() { runner_.finish(); }
    // Without threads, as JobRunner has it.
    void advance(JobRunner::Clock::time_point until) { runner_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return runner_.due(); }

private:
    struct State;

    void work();

    std::shared_ptr<State> state_;
    JobRunner runner_;  // last: its work uses the rest
};

}  // namespace decoderscope::core::train
