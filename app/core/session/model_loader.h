#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/jobs/job.h"
#include "app/core/work/saved_work.h"
#include "engine/model/model.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// Reads models beside the window, so that it never waits. One at a time: a new one stops the one before.
class ModelLoader {
public:
    struct Order {
        std::string name;        // a bundled model's, or a path
        Overrides answers;       // to what its files don't say
        bool session = false;    // it is the path of a session, to be opened with its model
        bool recovered = false;  // and an autosave
    };
    // The model, or the session with its model; or what has to be answered first, or why there is none.
    struct Result {
        Order order;
        std::shared_ptr<const Model> model;
        std::optional<SavedWork> work;
        std::shared_ptr<const ReferenceRun> pinned;  // of the session; nullptr where it has none
        std::optional<Recognised> asks;
        std::string error;
        std::string python;  // what turns the file into one that can be read, where that is known
    };
    struct Progress {
        std::size_t bytes_read = 0, bytes_total = 0;  // a total of 0: not known yet
    };

    // `wake` is called, from another thread where there are any, when a result is there.
    explicit ModelLoader(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(Order order);
    // Nothing comes of the order under way.
    void stop() { job_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Waits until a result is there, nothing is under way, or `patience` is over.
    void wait(std::chrono::milliseconds patience) { job_.wait(patience); }
    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }
    // Of the order that was started last.
    [[nodiscard]] Progress progress() const { return {progress_->bytes_read, progress_->bytes_total}; }

private:
    std::shared_ptr<LoadProgress> progress_ = std::make_shared<LoadProgress>();
    Job<Result> job_;
};

}  // namespace decoderscope
