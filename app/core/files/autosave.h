#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The files in which unsaved work survives a crash: one per process, in a folder of the user's. A process has ended if
// its lock is free: the system releases the lock however the process ends. Its process id proves nothing, since it may
// have been reused.
namespace decoderscope::core::files {

// Where they are: $XDG_STATE_HOME/decoderscope, or ~/.local/state/decoderscope; empty if there is no home.
[[nodiscard]] std::string autosave_folder();

// A lock on a file created for it. Held until this is destroyed or the process ends.
class FileLock {
public:
    // Nothing if another process holds it. Throws Error if the file can't be created.
    [[nodiscard]] static std::optional<FileLock> take(const std::string& path);
    FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

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
    std::optional<FileLock> lock_;
};

// An autosave left by a process that has ended. While this lives, no other process offers it.
struct Leftover {
    std::string path;
    std::chrono::system_clock::time_point when;  // it was last written
    FileLock lock;
};

// All leftovers, the newest first. Also removes half-written files of ended processes. Empty if the folder can't be
// read.
[[nodiscard]] std::vector<Leftover> leftovers(const std::string& folder);
// Deletes a leftover.
void remove_leftover(const Leftover& leftover);

}  // namespace decoderscope::core::files
