#pragma once

#include "engine/platform/files.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

// The files in which unsaved work survives a crash: one per process, in a folder of the user's. A process has ended if
// its lock is free: the system releases the lock however the process ends. Its process id proves nothing, since it may
// have been reused.
namespace decoderscope::core::files {

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

}  // namespace decoderscope::core::files
