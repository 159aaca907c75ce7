#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/jobs/job.h"
#include "app/core/run/comparison.h"
#include "app/core/run/open_model.h"
#include "engine/base/message.h"
#include "engine/load/model_folder.h"
#include "engine/load/recorded_run.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace decoderscope::core {

// Writes models' folders in the background, one after the other, so that the window never waits for a disk.
class ModelWriter {
public:
    struct Order {
        std::shared_ptr<const load::ModelFolder> model;
        std::string path;
        bool open = false;  // once it is written
    };
    struct Result {
        std::string path;  // absolute
        bool open = false;
        Sentence error;  // why it could not be written; empty if it was
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit ModelWriter(std::function<void()> wake) : job_(std::move(wake)) {}
    // Finishes what is being written, and what waits.
    ~ModelWriter();
    ModelWriter(const ModelWriter&) = delete;
    ModelWriter& operator=(const ModelWriter&) = delete;

    void start(Order order);
    // A result, once; then begins the next order.
    [[nodiscard]] std::optional<Result> collect();
    [[nodiscard]] bool busy() const { return !orders_.empty(); }
    // Waits until the order under way is done.
    void finish() { job_.finish(); }
    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }

private:
    void begin();

    std::deque<Order> orders_;  // the first one is under way
    Job<Result> job_;
};

// Reads models in the background, so that the window never waits. One at a time: a new one cancels the previous.
class ModelLoader {
public:
    struct Order {
        std::string name;              // a bundled model's, or a path
        Overrides answers;             // to what its files don't say
        load::names::Mapping mapping;  // of its tensors
        OpenAs as = OpenAs::whatever_it_is;
        bool session = false;    // `name` is the path of a session, to be opened with its model
        bool recovered = false;  // and it is an autosave
        std::shared_ptr<const files::SessionFile> linked = nullptr;  // a link's session, to be opened with its model
    };
    // What was opened, or the session with it; otherwise the open questions or the error.
    struct Result {
        Order order;
        std::optional<load::Opened> opened;
        std::optional<files::SavedSession> work;
        std::shared_ptr<const ReferenceRun> pinned;  // of the session; nullptr if none
        std::optional<load::Recognised> asks;
        Sentence error;
        std::string python;  // what converts the file into one that can be read, if known
    };
    struct Progress {
        std::size_t bytes_read = 0, bytes_total = 0;  // a total of 0: not known yet
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit ModelLoader(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(Order order);
    // Cancels the order under way.
    void stop() { job_.forget(); }
    [[nodiscard]] std::optional<Result> collect() { return job_.collect(); }
    // Waits until a result is ready, nothing is under way, or `patience` has passed.
    void wait(std::chrono::milliseconds patience) { job_.wait(patience); }
    // Without threads, as JobRunner has them.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return job_.due(); }
    // The progress of the last order started.
    [[nodiscard]] Progress progress() const { return {progress_->bytes_read, progress_->bytes_total}; }

private:
    std::shared_ptr<LoadProgress> progress_ = std::make_shared<LoadProgress>();
    Job<Result> job_;
};

// Reads traces to compare with, in the background. If there are several, the last one that was asked for; it is read
// again whenever its file is saved again, so that what is compared is never older than the file.
class TraceReader {
public:
    struct Result {
        std::shared_ptr<const ReferenceRun> trace;  // nullptr: it can't be read
        Sentence error;
        bool again = false;  // the file was saved again
    };

    // `wake` is called when a result is ready, from another thread if there are threads.
    explicit TraceReader(std::function<void()> wake) : job_(std::move(wake)) {}

    void start(const std::string& path);
    // What is being read or followed is no longer wanted.
    void stop();
    // The file that is being read; empty: none.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::optional<Result> collect();
    // Waits until nothing is under way.
    void finish() { job_.finish(); }
    // Looks now and then whether the file was saved again.
    void look_again();
    // Without threads, as JobRunner has them. With or without: when to look.
    void advance(JobRunner::Clock::time_point until) { job_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const;

private:
    // As a file was when it was looked at.
    struct Seen {
        std::filesystem::file_time_type saved;
        std::uintmax_t bytes = 0;
        bool operator==(const Seen&) const = default;
    };
    static std::optional<Seen> seen(const std::string& path);
    void read();

    std::string path_, followed_;
    bool again_ = false;
    std::optional<Seen> read_, last_;  // when it was read; at the last look
    JobRunner::Clock::time_point next_look_;
    Job<Result> job_;
};

}  // namespace decoderscope::core
