#pragma once

#include "app/core/reference_run.h"
#include "app/core/saved_work.h"
#include "engine/model/model.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

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
    ~ModelLoader();
    ModelLoader(const ModelLoader&) = delete;
    ModelLoader& operator=(const ModelLoader&) = delete;

    void start(Job job);
    // Nothing comes of the job under way.
    void stop();
    [[nodiscard]] std::optional<Result> collect();
    // Waits until a result is there or nothing is under way, or as long as `patience`.
    void wait(std::chrono::milliseconds patience);
    [[nodiscard]] Progress progress() const;

private:
    void serve(const std::stop_token& stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Job> waiting_;
    std::optional<Result> finished_;
    bool working_ = false;
    std::stop_source stop_;                   // the job's under way
    std::shared_ptr<LoadProgress> progress_;  // its, too
    std::jthread thread_;                     // last: it starts when everything else is there
};

}  // namespace decoderscope
