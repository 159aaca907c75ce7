#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/jobs/job.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// Measures the laws beside the window, when a run has stood for a moment: during painting or typing the next run would
// only take its place. One at a time; a new one stops the one before.
class InvariantsMonitor {
public:
    struct Order {
        std::shared_ptr<const Run> run;
        Config config;
    };
    struct Result {
        std::shared_ptr<const Run> run;  // what was measured
        std::optional<Invariants> invariants;
        std::string error;  // why it could not be measured
    };

    // `wake` is called, from another thread where there are any, when a result is there.
    explicit InvariantsMonitor(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(Order order);
    // Nothing comes of the order under way.
    void stop() { job_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Has it begin at once, and waits until nothing is under way.
    void finish() { job_.finish(); }
    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }

private:
    Job<Result> job_;
};

}  // namespace decoderscope
