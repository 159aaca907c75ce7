#pragma once

#include "app/core/figure/export.h"
#include "app/core/jobs/job.h"
#include "engine/base/message.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace decoderscope::core {

// Writes files in the background, so that the window never waits. One at a time: a new one waits for the previous one.
class Exporter {
public:
    struct Order {
        std::shared_ptr<const Exhibit> exhibit;
        std::string path;  // a file, or with `each` a new folder
        ExportOptions options;
        std::string each;  // the file ending, for one file per panel; empty: one file
    };
    struct Result {
        Sentence sentence;  // what was written, or why nothing was
        bool failed = false;
        std::string path;  // absolute, of what was written; empty if nothing was
    };
    // The progress of the order under way.
    struct Progress {
        std::string path;
        std::size_t done = 0, total = 1;  // panels
    };

    // `wake` is called when there is something new to show, from another thread if there are threads.
    explicit Exporter(std::function<void()> wake);

    void start(Order order);
    // Stops the order under way; it leaves nothing behind.
    void stop() { job_.stop(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Waits until a result is ready, nothing is under way, or `patience` runs out.
    void wait(std::chrono::milliseconds patience) { job_.wait(patience); }
    // Waits until nothing is under way.
    void finish() { job_.finish(); }
    // Without threads: as in JobRunner. A slice is a file.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }
    // Nothing while there is nothing to do.
    [[nodiscard]] std::optional<Progress> progress() const;

private:
    void begin(const Order& order);
    void count_panel(const std::stop_token& stop);
    Resumable<Result> write(Order order, std::stop_token stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    Progress progress_;
    Job<Result> job_;  // last: its work uses the rest
};

}  // namespace decoderscope::core
