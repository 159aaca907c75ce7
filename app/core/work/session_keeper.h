#pragma once

#include "app/core/work/autosave.h"
#include "app/core/work/model_sums.h"
#include "app/core/work/saved_work.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace decoderscope {

// Writes a session's work on a thread of its own, so that no disk and no checksum makes the window wait: under a name
// when the person says so, and by itself soon after every change, so that a crash loses at most the last second.
class SessionKeeper {
public:
    // From a change to the moment at which its autosave begins to be written. More changes don't put it off.
    static constexpr std::chrono::milliseconds kDelay{400};

    // `wake` is called from the keeper's thread when there is an outcome.
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
    [[nodiscard]] bool busy() const;
    // Waits until it isn't busy.
    void wait();
    // Writes at once what waits for its moment, and waits until it is there.
    void flush();

private:
    using Clock = std::chrono::steady_clock;
    struct Job {
        SavedWork work;
        std::string path;
        std::uint64_t number = 0;
        bool autosave = false;
    };

    void serve(const std::stop_token& stop);
    [[nodiscard]] std::optional<Job> take_job(bool ending);
    [[nodiscard]] bool has_checksums(const SavedWork& work);
    [[nodiscard]] Outcome write(const Job& job);
    void forget_adopted();

    std::function<void()> wake_;
    std::chrono::milliseconds delay_ = kDelay;
    std::unique_ptr<AutosaveSlot> slot_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<Job> saves_;       // to be written under their names, in this order
    std::optional<Job> autosave_;  // to be written when its moment has come
    Clock::time_point autosave_due_;
    bool drop_ = false;  // the autosave is to go
    bool working_ = false;
    std::vector<Outcome> outcomes_;
    std::vector<Leftover> adopted_;
    ModelSums sums_;
    std::jthread thread_;  // last: it starts when everything else is there
};

}  // namespace decoderscope
