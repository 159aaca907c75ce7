#pragma once

#include "app/core/jobs/job_runner.h"
#include "app/core/session/recording.h"
#include "engine/message.h"
#include "engine/run.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// Computes runs in the background, so that the window never waits. One at a time: a new order cancels the one under
// way.
class Worker {
public:
    // A run to compute, and an earlier one whose tensors may be reused.
    struct Task {
        std::shared_ptr<const Plan> plan;
        std::shared_ptr<const Run> previous;
        // Used instead of `plan` if making the plan takes long.
        std::function<Resumable<std::shared_ptr<const Plan>>()> make_plan;
    };
    struct Order {
        Task main;
        std::optional<Task> unedited;             // the same without edits
        std::map<std::string, Task> companions;   // what the labs show in addition
        std::vector<std::string> asked;           // on-demand tensors
        Recording recording = Recording::all;     // which tensors of each run are kept
        std::vector<std::string> looked_at;       // steps of the main run that are computed first
        std::vector<std::string> last_row_first;  // steps whose other rows are computed after everything else
    };
    // Comes twice if there are companions: first with the current run, then complete.
    struct Result {
        std::shared_ptr<const Run> run;       // nullptr if it failed
        std::shared_ptr<const Run> unedited;  // nullptr if not asked for
        std::map<std::string, std::shared_ptr<const Run>> companions;
        std::map<std::string, Sentence> companion_errors;
        Sentence error;
        bool complete = true;
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit Worker(std::function<void()> wake);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start(Order order);
    // The new part, if any, of the last order's result.
    [[nodiscard]] std::optional<Result> collect();
    // The main run of the order under way, once the steps in `looked_at` are done and before all are; else nullptr.
    [[nodiscard]] std::shared_ptr<const Run> collect_early();
    [[nodiscard]] bool busy() const;
    // Waits until something new is ready, everything is done, or `patience` has passed.
    void wait(std::chrono::milliseconds patience);
    // From 0 to 1: progress of the order under way.
    [[nodiscard]] float progress() const;
    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { runner_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return runner_.due(); }

private:
    Resumable<Done> compute(Order order, std::stop_token stop);
    Resumable<Result> compute_main(const Order& order, const std::stop_token& stop);
    Resumable<Done> compute_rest(const Order& order, const Run& run);
    Resumable<Done> compute_companions(const Order& order, const std::stop_token& stop, Result& result);
    void publish_early(std::shared_ptr<const Run> run, const std::stop_token& stop);
    void publish(Result result, const std::stop_token& stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::optional<Result> finished_;
    std::shared_ptr<const Run> early_;
    std::atomic<std::size_t> done_ = 0;
    std::atomic<std::size_t> total_ = 1;
    JobRunner runner_;  // last: its work uses the rest
};

}  // namespace decoderscope
