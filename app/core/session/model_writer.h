#pragma once

#include "app/core/jobs/job.h"
#include "engine/base/message.h"
#include "engine/load/model_folder.h"

#include <deque>
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

}  // namespace decoderscope::core
