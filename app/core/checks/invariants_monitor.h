#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/jobs/job.h"
#include "engine/message.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope {

// Measures the laws in the background, once a run has been current for a moment: during painting or typing the next run
// would replace it at once. One at a time; a new one stops the previous one.
class InvariantsMonitor {
public:
    struct Order {
        std::shared_ptr<const Run> run;
        Config config;
    };
    struct Result {
        std::shared_ptr<const Run> run;  // what was measured
        std::optional<Invariants> invariants;
        Sentence error;  // why it could not be measured
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit InvariantsMonitor(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(Order order);
    // Drops the order under way; it gives no result.
    void stop() { job_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Begins a waiting order at once, and waits until nothing is under way.
    void finish() { job_.finish(); }
    // Without threads: as in JobRunner.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }

private:
    Job<Result> job_;
};

}  // namespace decoderscope
