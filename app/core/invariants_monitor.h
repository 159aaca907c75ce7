#pragma once

#include "app/core/invariants.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

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
    ~InvariantsMonitor();
    InvariantsMonitor(const InvariantsMonitor&) = delete;
    InvariantsMonitor& operator=(const InvariantsMonitor&) = delete;

    void start(Job job);
    // Nothing comes of the job under way.
    void stop();
    [[nodiscard]] std::optional<Result> collect();
    // Waits until nothing is under way, and has it begin at once.
    void finish();

private:
    void serve(const std::stop_token& stop);

    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Job> waiting_;
    std::optional<Result> finished_;
    bool hurry_ = false;
    bool working_ = false;
    std::stop_source stop_;  // the job's under way
    std::jthread thread_;    // last: it starts when everything else is there
};

}  // namespace decoderscope
