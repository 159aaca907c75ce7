#pragma once

#include "app/core/jobs/job_runner.h"
#include "app/core/work/autosave.h"
#include "app/core/work/model_sums.h"
#include "app/core/work/saved_work.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// Writes a session's work beside the window, so that no disk and no checksum makes it wait: under a name when the
// person says so, and by itself soon after every change, so that a crash loses at most the last second.
class SessionKeeper {
public:
    // From a change to the moment at which its autosave begins to be written. More changes don't put it off.
    static constexpr std::chrono::milliseconds kDelay{400};

    // `wake` is called, from another thread where there are any, when there is an outcome.
    explicit SessionKeeper(std::function<void()> wake);
    // What is being written is finished; an autosave stays unless it was dropped.
    ~SessionKeeper();
    SessionKeeper(const SessionKeeper&) = delete;
    SessionKeeper& operator=(const SessionKeeper&) = delete;

    // Autosaves go to this folder from now on. Throws Error where it can't be made or written.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay = kDelay);
    [[nodiscard]] bool autosaves() const { return slot_ != nullptr; }
    // The work has changed. `number` grows from change to change, and is told back when it is safe.
    void changed(SavedWork work, std::uint64_t number);
    // There is nothing that should outlive a crash: the autosave goes.
    void drop_autosave();
    // This autosave of a process that is gone lives on in the work: it goes as soon as that is written.
    void adopt(Leftover leftover);

    // Writes the work to this file.
    void save(SavedWork work, std::string path, std::uint64_t number);

    // What a save came to: a file that holds the work as of `number`, or why it could not be written.
    struct Outcome {
        std::string path;
        std::uint64_t number = 0;
        bool autosave = false;
        std::string error;
    };
    [[nodiscard]] std::vector<Outcome> collect();
    // Whether anything is still to be written, other than an autosave that waits for its moment.
    [[nodiscard]] bool busy() const { return to_do_ > 0; }
    // Waits until it isn't busy.
    void wait();
    // Writes at once what waits for its moment, and waits until it is there.
    void flush();
    // Without threads, as JobRunner has them. A slice is a file, or a piece of a model's.
    void advance(JobRunner::Clock::time_point until) { runner_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return runner_.due(); }

private:
    using Clock = JobRunner::Clock;
    struct Order {
        SavedWork work;
        std::string path;
        std::uint64_t number = 0;
        bool autosave = false;
    };

    void count();
    void schedule();
    Resumable<Done> serve();
    void drop_if_told();
    [[nodiscard]] std::optional<Order> take_order();
    [[nodiscard]] bool has_checksums(const SavedWork& work);
    void write_and_tell(const Order& order);
    [[nodiscard]] Outcome write(const Order& order);
    void forget_adopted();

    std::function<void()> wake_;
    std::chrono::milliseconds delay_ = kDelay;
    std::unique_ptr<AutosaveSlot> slot_;
    std::mutex mutex_;
    std::vector<Order> saves_;       // to be written under their names, in this order
    std::optional<Order> autosave_;  // to be written when its moment has come
    Clock::time_point autosave_due_;
    bool drop_ = false;                   // the autosave is to go
    bool writing_ = false;                // what was taken from saves_ or autosave_
    bool ending_ = false;                 // saves no longer wait for checksums
    std::atomic<std::size_t> to_do_ = 0;  // how much of the above is to be done now
    std::atomic<bool> autosave_waits_ = false;
    std::vector<Outcome> outcomes_;
    std::vector<Leftover> adopted_;
    ModelSums sums_;    // the runner's alone
    JobRunner runner_;  // last: its work uses the rest
};

}  // namespace decoderscope
