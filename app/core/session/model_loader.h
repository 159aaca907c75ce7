#pragma once

#include "app/core/diff/reference_run.h"
#include "app/core/jobs/job_thread.h"
#include "app/core/work/saved_work.h"
#include "engine/model/model.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// Reads models on a thread of its own, so that the window never waits. One at a time: a new one stops the one before.
class ModelLoader {
public:
    struct Job {
        std::string name;        // a bundled model's, or a path
        Overrides answers;       // to what its files don't say
        bool session = false;    // it is the path of a session, to be opened with its model
        bool recovered = false;  // and an autosave
    };
    // The model, or the session with its model; or what has to be answered first, or why there is none.
    struct Result {
        Job job;
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

    // `wake` is called from the loader's thread when a result is there.
    explicit ModelLoader(std::function<void()> wake);

    void start(Job job);
    // Nothing comes of the job under way.
    void stop() { thread_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return thread_.collect(); }
    // Waits until a result is there or nothing is under way, or as long as `patience`.
    void wait(std::chrono::milliseconds patience) { thread_.wait(patience); }
    // Of the job that was started last; to be asked by whoever starts them.
    [[nodiscard]] Progress progress() const { return {progress_->bytes_read, progress_->bytes_total}; }

private:
    struct Order {
        Job job;
        std::shared_ptr<LoadProgress> progress;
    };

    std::shared_ptr<LoadProgress> progress_ = std::make_shared<LoadProgress>();
    JobThread<Order, Result> thread_;  // last: it starts when everything else is there
};

}  // namespace decoderscope
