#pragma once

#include "app/core/export/export.h"
#include "app/core/jobs/job_thread.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace decoderscope {

// Writes files on a thread of its own, so that the window never waits. One at a time: a new one waits for the one
// before.
class Exporter {
public:
    struct Job {
        std::shared_ptr<const Exhibit> exhibit;
        std::string path;  // a file, or with `each` a new folder
        ExportOptions options;
        std::string each;  // the ending of a file for every panel; empty: one file
    };
    struct Result {
        std::string sentence;  // what was written, or why nothing was
        bool failed = false;
    };
    // How far the job under way is.
    struct Progress {
        std::string path;
        std::size_t done = 0, total = 1;  // panels
    };

    // `wake` is called from the exporter's thread when there is something new to show.
    explicit Exporter(std::function<void()> wake);

    void start(Job job);
    // The job under way leaves nothing behind.
    void stop() { thread_.stop(); }
    [[nodiscard]] std::optional<Result> collect() { return thread_.collect(); }
    // Waits until a result is there or nothing is under way, or as long as `patience`.
    void wait(std::chrono::milliseconds patience) { thread_.wait(patience); }
    // Nothing while there is nothing to do.
    [[nodiscard]] std::optional<Progress> progress() const;

private:
    void begin(const Job& job);
    void advance(const std::stop_token& stop);
    [[nodiscard]] Result write(const Job& job, const std::stop_token& stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    Progress progress_;
    JobThread<Job, Result> thread_;  // last: it starts when everything else is there
};

}  // namespace decoderscope
