#pragma once

#include "app/core/session/recording.h"
#include "engine/run.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace decoderscope {

// Computes runs on a thread of its own, so that the window never waits. One at a time: a new job cancels the one under
// way.
class Worker {
public:
    // A run to compute, and the one whose tensors may be taken over.
    struct Task {
        std::shared_ptr<const Plan> plan;
        std::shared_ptr<const Run> previous;
        // In place of a plan that takes long to make; nullptr comes back where it was stopped.
        std::function<std::shared_ptr<const Plan>(const std::stop_token&)> make_plan;
    };
    struct Job {
        Task main;
        std::optional<Task> unedited;             // the same without edits
        std::map<std::string, Task> companions;   // what the labs look at beside it
        std::vector<std::string> asked;           // on-demand tensors
        Recording recording = Recording::all;     // what of every run is kept
        std::vector<std::string> looked_at;       // steps of the main run that are computed first
        std::vector<std::string> last_row_first;  // steps whose other rows are computed when all else is there
    };
    // Comes twice where there are companions: first with what is looked at, then complete.
    struct Result {
        std::shared_ptr<const Run> run;       // nullptr where it failed
        std::shared_ptr<const Run> unedited;  // nullptr where it was not asked for
        std::map<std::string, std::shared_ptr<const Run>> companions;
        std::map<std::string, std::string> companion_errors;
        std::string error;
        bool complete = true;
    };

    // `wake` is called from the worker's thread when a result is there.
    explicit Worker(std::function<void()> wake);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start(Job job);
    // What is new of the last job's result.
    [[nodiscard]] std::optional<Result> collect();
    // The main run of the job under way as soon as the steps that are looked at are there, and before all are; else
    // nullptr.
    [[nodiscard]] std::shared_ptr<const Run> collect_early();
    [[nodiscard]] bool busy() const;
    // Waits until something new is there or all is done, or as long as `patience`.
    void wait(std::chrono::milliseconds patience);
    // From 0 to 1: how much of the job under way is done.
    [[nodiscard]] float progress() const;

private:
    void serve(const std::stop_token& stop);
    void compute(const Job& job, const std::stop_token& stop);
    [[nodiscard]] Result compute_main(const Job& job, const std::stop_token& stop);
    void publish_early(std::shared_ptr<const Run> run, const std::stop_token& stop);
    void compute_rest(const Job& job, const std::stop_token& stop, const Run& run);
    void compute_companions(const Job& job, const std::stop_token& stop, Result& result);
    void publish(Result result, const std::stop_token& stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Job> waiting_;
    std::optional<Result> finished_;
    std::shared_ptr<const Run> early_;
    bool working_ = false;
    std::stop_source cancel_;
    std::atomic<std::size_t> done_ = 0;
    std::atomic<std::size_t> total_ = 1;
    std::jthread thread_;  // last: it starts when everything else is there
};

}  // namespace decoderscope
