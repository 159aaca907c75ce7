#pragma once

#include "app/core/export/export.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

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
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void start(Job job);
    // The job under way leaves nothing behind.
    void stop();
    [[nodiscard]] std::optional<Result> collect();
    // Waits until a result is there or nothing is under way, or as long as `patience`.
    void wait(std::chrono::milliseconds patience);
    // Nothing while there is nothing to do.
    [[nodiscard]] std::optional<Progress> progress() const;

private:
    void serve(const std::stop_token& stop);
    void advance(const std::stop_token& stop);
    [[nodiscard]] Result write(const Job& job, const std::stop_token& stop);

    std::function<void()> wake_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::optional<Job> waiting_;
    std::optional<Result> finished_;
    bool working_ = false;
    Progress progress_;
    std::stop_source stop_, waiting_stop_;  // of the job under way, and of the one that waits
    std::jthread thread_;                   // last: it starts when everything else is there
};

}  // namespace decoderscope
