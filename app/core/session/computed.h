#pragma once

#include "app/core/checks/invariants_monitor.h"
#include "app/core/derived/derived.h"
#include "app/core/session/command.h"
#include "app/core/session/snapshot.h"
#include "app/core/session/worker.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// What is computed from the work, and shown: the run, the same without edits, its companions, and what the laws measure
// on it. Computed in the background; the old results stay on show until new ones are ready.
class Computed {
public:
    // `wake` is called when there is something new, from another thread if there are threads.
    explicit Computed(const std::function<void()>& wake) : worker_(wake), monitor_(wake) {}

    // Starts computing a scenario's plan, the step on the stage first.
    void start(const Scenario& scenario, std::shared_ptr<const Plan> plan, const std::string& on_stage);
    // Adds an on-demand tensor to be computed from the next start() on.
    void ask_for(std::string step) { asked_.push_back(std::move(step)); }
    // Adds a companion run to be computed from the next start() on. Returns false if it is known already.
    [[nodiscard]] bool accompany(const std::string& name, const Variation& variation);
    void leave(const std::string& name);
    // Runs of another model can't be compared with this one.
    void forget_companion_runs();
    void compare_with_run(std::shared_ptr<const ReferenceRun> pinned) { shown_.pinned = std::move(pinned); }
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
    [[nodiscard]] float progress() const { return worker_.progress(); }
    // The computed steps in order: what the timeline shows.
    [[nodiscard]] const std::vector<StepId>& timeline() const { return timeline_; }
    // A step's position on it. For a weight or an input: that of the first step that reads it.
    [[nodiscard]] std::size_t timeline_position(const Step& step) const;
    // The laws, measured on the run that is shown; nullptr until that is done.
    [[nodiscard]] const InvariantsMonitor::Result* invariants() const;

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
    InvariantsMonitor monitor_;
    InvariantsMonitor::Result invariants_;  // of the last run that was measured
    Scenario asked_for_;                    // what is being computed
    Snapshot shown_;
    std::vector<std::string> asked_;
    std::map<std::string, Companion> companions_;  // as they are being computed
    std::shared_ptr<FreshWeights> fresh_weights_ = std::make_shared<FreshWeights>();
    bool stale_ = false;
    bool computing_ = false;
    std::vector<StepId> timeline_;
    std::unique_ptr<Derived> derived_ = std::make_unique<Derived>();
};

}  // namespace decoderscope
