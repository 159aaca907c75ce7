#pragma once

#include "app/core/checks/invariants.h"
#include "app/core/jobs/job_thread.h"

#include <functional>
#include <memory>
#include <optional>

namespace decoderscope {

// Measures the laws on a thread of its own, when a run has stood for a moment: while somebody paints or types, the next
// one would only take its place. One at a time; a new one stops the one before.
class InvariantsMonitor {
public:
    struct Job {
        std::shared_ptr<const Run> run;
        Config config;
    };
    struct Result {
        std::shared_ptr<const Run> run;  // what was measured
        std::optional<Invariants> invariants;
        std::string error;  // why it could not be measured
    };

    // `wake` is called from the monitor's thread when a result is there.
    explicit InvariantsMonitor(std::function<void()> wake);

    void start(Job job);
    // Nothing comes of the job under way.
    void stop() { thread_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return thread_.collect(); }
    // Waits until nothing is under way, and has it begin at once.
    void finish() { thread_.finish(); }

private:
    JobThread<Job, Result> thread_;
};

}  // namespace decoderscope
