#pragma once

#include "app/core/jobs/job.h"
#include "app/core/train/training_run.h"
#include "engine/load/model.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace decoderscope::core::train {

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
