#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/derived/derived.h"
#include "app/core/files/saved_session.h"
#include "app/core/jobs/job.h"
#include "app/core/jobs/progress.h"
#include "app/core/run/scenario.h"
#include "app/core/run/snapshot.h"
#include "app/core/session/command.h"
#include "engine/base/message.h"
#include "engine/graph/run.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core {

// Companion runs, by the names that the tabs give them.
using CompanionRuns = std::map<std::string, Variation>;

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
        std::shared_ptr<const Run> there = nullptr;  // it is computed already
    };
    struct Order {
        Task main;
        std::optional<Task> unedited;             // the same without edits
        std::map<std::string, Task> companions;   // what the tabs show in addition
        std::vector<std::string> asked;           // on-demand tensors
        Recording recording = Recording::fit;     // which tensors of each run are kept
        std::uint64_t memory = 0;                 // Scenario::memory
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
    // The part of the last order's result that is new, if any.
    [[nodiscard]] std::optional<Result> collect();
    // The main run of the order under way, once the steps in `looked_at` are done and before all are; otherwise
    // nullptr.
    [[nodiscard]] std::shared_ptr<const Run> collect_early();
    [[nodiscard]] bool busy() const;
    // Waits until something new is ready, everything is done, or `patience` has passed.
    void wait(std::chrono::milliseconds patience);
    // How far the order under way is.
    [[nodiscard]] WorkProgress& progress() const { return *progress_; }
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
    SharedProgress progress_ = std::make_shared<WorkProgress>();
    JobRunner runner_;  // last: its work uses the rest
};

// What a session shows when it opens.
struct FirstRuns {
    std::shared_ptr<const Run> run, unedited;    // the same one if there are no edits
    std::shared_ptr<const ReferenceRun> pinned;  // nullptr if none
};
// Computes them. Throws Error if the work can't be run, LoadStopped if it is stopped.
[[nodiscard]] Resumable<FirstRuns> first_runs(files::SavedSession work, std::stop_token stop = {},
                                              SharedProgress progress = std::make_shared<WorkProgress>());

// What is computed from the work, and shown: the run, the same without edits, its companions, and what the laws measure
// on it. Computed in the background; the old results stay on show until new ones are ready.
class Computed {
public:
    // `wake` is called when there is something new, from another thread if there are threads.
    explicit Computed(const std::function<void()>& wake) : worker_(wake), monitor_(wake) {}

    // Shows what was computed before there was anything to show.
    void show_first(const Scenario& scenario, const FirstRuns& first);
    // Starts computing a scenario's plan, the step on the stage first.
    void start(const Scenario& scenario, std::shared_ptr<const Plan> plan, const std::string& on_stage);
    // Starts computing what is known of companions beside the run that is shown, which stays the same one: what was
    // derived from it stays, too. False if another run is under way, or none is there.
    [[nodiscard]] bool start_companions();
    // Adds an on-demand tensor to be computed from the next start() on.
    void ask_for(std::string step) { asked_.push_back(std::move(step)); }
    // What was started last: the plan of the run that is shown, unless that is stale.
    [[nodiscard]] const std::shared_ptr<const Plan>& plan_asked_for() const { return plan_asked_for_; }
    // The companion runs that are kept beside the run, as they were asked for.
    [[nodiscard]] CompanionRuns companion_runs() const;
    // Adds a companion run to be computed from the next start() on. Returns false if it is known already.
    [[nodiscard]] bool accompany(const std::string& name, const Variation& variation);
    void leave(const std::string& name);
    // Runs of another model can't be compared with this one.
    void forget_companion_runs();
    void compare_with_run(std::shared_ptr<const ReferenceRun> pinned) { shown_.pinned = std::move(pinned); }
    void compare_rows_with(const std::shared_ptr<const ReferenceRun>& other) {
        shown_.scenario.other_run = asked_for_.other_run = other;
    }
    void compare_with_file(std::shared_ptr<const ReferenceRun> file) { shown_.trace_file = std::move(file); }

    // What the worker has finished, if anything is new. Waits for it, but no longer than `patience`.
    [[nodiscard]] std::optional<Worker::Result> collect(std::chrono::milliseconds patience);
    // Take over early results, and measurements.
    void collect_early();
    void collect_measured();
    // Shows a result. Returns false if the run failed; then what is shown stays.
    [[nodiscard]] bool take(const Worker::Result& result);
    // Starts measuring at once; waits for it and for everything being derived.
    void finish_measuring() {
        monitor_.finish();
        derived_->finish();
    }

    [[nodiscard]] const Snapshot& shown() const { return shown_; }
    [[nodiscard]] const Plan& plan() const { return shown_.run->plan(); }
    // Whether what is shown is older than what was asked for.
    [[nodiscard]] bool stale() const { return stale_; }
    // Whether anything is being computed, companions included.
    [[nodiscard]] bool computing() const { return computing_; }
    [[nodiscard]] WorkProgress& progress() const { return worker_.progress(); }
    // The computed steps in order: what the timeline shows.
    [[nodiscard]] const std::vector<StepId>& timeline() const { return timeline_; }
    // A step's position on it. For a weight or an input, the position of the first step that reads it.
    [[nodiscard]] std::size_t timeline_position(const Step& step) const;
    // The laws, measured on the run that is shown; nullptr until that is done.
    [[nodiscard]] const checks::InvariantsMonitor::Result* invariants() const;

    // What is derived from runs to be shown; computed on demand.
    [[nodiscard]] Derived& derived() const { return *derived_; }

    // Without threads, as JobRunner has them.
    void advance_runs(JobRunner::Clock::time_point until) { worker_.advance(until); }
    void advance_measuring(JobRunner::Clock::time_point until) { monitor_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due_runs() const { return worker_.due(); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due_measuring() const { return monitor_.due(); }

private:
    [[nodiscard]] std::map<std::string, Worker::Task> companion_tasks();
    [[nodiscard]] Worker::Task task_of(const Companion& companion) const;
    [[nodiscard]] std::vector<std::string> looked_at(const std::string& on_stage) const;
    void take_companions(const Worker::Result& result);
    void measure(bool complete);

    Worker worker_;
    checks::InvariantsMonitor monitor_;
    checks::InvariantsMonitor::Result invariants_;  // of the last run that was measured
    Scenario asked_for_;                            // what is being computed, otherwise what is shown
    std::shared_ptr<const Plan> plan_asked_for_;    // its own
    Snapshot shown_;
    std::vector<std::string> asked_;
    std::map<std::string, Companion> companions_;  // as they are being computed
    std::shared_ptr<FreshWeights> fresh_weights_ = std::make_shared<FreshWeights>();
    bool stale_ = false;
    bool computing_ = false;
    std::vector<StepId> timeline_;
    std::unique_ptr<Derived> derived_ = std::make_unique<Derived>();
};

}  // namespace decoderscope::core
