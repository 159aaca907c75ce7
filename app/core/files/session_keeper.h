#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/jobs/job.h"
#include "app/core/jobs/resumable.h"
#include "engine/base/message.h"
#include "engine/platform/files.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::files {

// The files in which unsaved work survives a crash: one per process, in a folder of the user's. A process has ended if
// its lock is free: the system releases the lock however the process ends. Its process id proves nothing, since it may
// have been reused.
// Where they are: "decoderscope" in platform::state_folder(); empty if there is none.
[[nodiscard]] std::string autosave_folder();

// A name for this process's autosave that no other process uses, or used and left behind.
class AutosaveSlot {
public:
    // Creates the folder. Throws Error naming it if it can't be written.
    explicit AutosaveSlot(const std::string& folder);
    AutosaveSlot(const AutosaveSlot&) = delete;
    AutosaveSlot& operator=(const AutosaveSlot&) = delete;
    // Releases the lock; an autosave that is still there can then be recovered.
    ~AutosaveSlot();

    [[nodiscard]] const std::string& path() const { return path_; }
    // Removes the autosave.
    void remove() const;

private:
    std::string path_, lock_path_;
    std::optional<platform::FileLock> lock_;
};

// An autosave left by a process that has ended. While this lives, no other process offers it.
struct Leftover {
    std::string path;
    std::chrono::system_clock::time_point when;  // it was last written
    platform::FileLock lock;
};

// All leftovers, the newest first. Also removes half-written files of ended processes. Empty if the folder can't be
// read.
[[nodiscard]] std::vector<Leftover> leftovers(const std::string& folder);
// Deletes a leftover.
void remove_leftover(const Leftover& leftover);

// The checksums of open models, computed once each, a piece of their files at a time: reading a large model takes a
// while, and other saves must not wait for it.
class ChecksumCache {
public:
    // Nothing while they are being computed; the first call starts that. Empty for a model whose files can no longer be
    // read.
    [[nodiscard]] std::optional<ModelChecksums> find(const load::Opened& opened);
    // Reads the next piece. Returns false if there is nothing to compute.
    bool advance();

private:
    std::vector<load::Opened> asked_;  // the first one is under way
    std::optional<Resumable<ModelChecksums>> under_way_;
    std::map<std::weak_ptr<const load::ModelInfo>, ModelChecksums, std::owner_less<>> known_;
};

// Writes a session's work in the background, so that the window never waits for a disk or a checksum: to a named file
// when the user saves, and automatically soon after every change, so that a crash loses at most the last second. An
// autosave that can't be written is tried again, as a full disk may have room again.
class SessionKeeper {
public:
    // The delay from a change to its autosave. Further changes don't extend it.
    static constexpr std::chrono::milliseconds kDelay{400};

    // `wake` is called when there is an outcome, from another thread if there are threads.
    explicit SessionKeeper(std::function<void()> wake);
    // Finishes the writing under way; an autosave stays unless it was dropped.
    ~SessionKeeper();
    SessionKeeper(const SessionKeeper&) = delete;
    SessionKeeper& operator=(const SessionKeeper&) = delete;

    // Autosaves go to this folder from now on. Throws Error if it can't be created or written.
    void autosave_in(const std::string& folder, std::chrono::milliseconds delay = kDelay);
    [[nodiscard]] bool autosaves() const { return slot_ != nullptr; }
    // The work has changed. `number` grows with each change; an Outcome reports it once that change is written.
    void changed(SavedSession work, std::uint64_t number);
    // Nothing needs to survive a crash: removes the autosave.
    void drop_autosave();
    // The work of the autosave is left for another, and only undoing brings it back: after a crash it is offered
    // beside what comes next. Call it before the other work's `changed`.
    void leave_autosave();
    // The person has ended the program: no autosave is needed, nor one that was left.
    void drop_all();
    // The work continues this autosave of an ended process: removes it as soon as the work is written.
    void adopt(Leftover leftover);

    // Writes the work to this file.
    void save(SavedSession work, std::string path, std::uint64_t number);

    // The outcome of a save: a file that holds the work as of `number`, or why it could not be written.
    struct Outcome {
        std::string path;
        std::uint64_t number = 0;
        bool autosave = false;
        Sentence error;
        std::string checksum = {};  // of what was written
    };
    [[nodiscard]] std::vector<Outcome> collect();
    // Whether anything is still to be written, except for an autosave that isn't due yet.
    [[nodiscard]] bool busy() const { return to_do_ > 0; }
    // Waits until it isn't busy.
    void wait();
    // Writes a pending autosave now, for the last time, and waits until it is written or can't be.
    void flush();
    // Without threads, as JobRunner has them. A slice is a file, or a piece of a model's.
    void advance(JobRunner::Clock::time_point until) { runner_.advance(until); }
    [[nodiscard]] std::optional<JobRunner::Clock::time_point> due() const { return runner_.due(); }

private:
    using Clock = JobRunner::Clock;
    struct Order {
        SavedSession work;
        std::string path;
        std::uint64_t number = 0;
        bool autosave = false;
    };

    void count();
    void schedule();
    Resumable<Done> serve();
    void drop_if_told();
    [[nodiscard]] std::optional<Order> take_order();
    [[nodiscard]] bool has_checksums(const SavedSession& work);
    void tell(Outcome outcome);
    void try_again(Order order);
    [[nodiscard]] Outcome write(const Order& order);
    void forget_adopted();

    std::function<void()> wake_;
    std::chrono::milliseconds delay_ = kDelay;
    std::string folder_;  // of the autosaves
    std::unique_ptr<AutosaveSlot> slot_;
    std::vector<std::unique_ptr<AutosaveSlot>> left_;  // whose work was left
    std::mutex mutex_;
    std::vector<Order> saves_;       // to be written to their paths, in this order
    std::optional<Order> autosave_;  // to be written when it is due
    Clock::time_point autosave_due_;
    bool drop_ = false;                   // the autosave is to be removed
    bool writing_ = false;                // something taken from saves_ or autosave_ is being written
    bool ending_ = false;                 // saves no longer wait for checksums
    bool last_try_ = false;               // an autosave that fails isn't tried again
    std::atomic<std::size_t> to_do_ = 0;  // how much of the above is due now
    std::atomic<bool> autosave_waits_ = false;
    std::vector<Outcome> outcomes_;
    std::vector<Leftover> adopted_;
    ChecksumCache sums_;  // used by the runner only
    JobRunner runner_;    // last: its work uses the rest
};

}  // namespace decoderscope::core::files
