#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The files in which unsaved work outlives a crash: one a process, in a folder of the person's own. That a process is
// gone is seen by its lock, which the system takes off whatever ends it; its number may be another's by then.
namespace decoderscope {

// Where they lie: $XDG_STATE_HOME/decoderscope, or ~/.local/state/decoderscope; empty where there is no home.
[[nodiscard]] std::string autosave_folder();

// A lock on a file that is made for it. It is ours until this is destroyed or the process is gone.
class FileLock {
public:
    // Nothing where another holds it. Throws Error where the file can't be made.
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

// A name for this process's autosave that nobody else uses, nor used and left.
class AutosaveSlot {
public:
    // Makes the folder. Throws Error naming it where it can't be written.
    explicit AutosaveSlot(const std::string& folder);
    AutosaveSlot(const AutosaveSlot&) = delete;
    AutosaveSlot& operator=(const AutosaveSlot&) = delete;
    // The lock goes; an autosave that is still there can then be recovered.
    ~AutosaveSlot();

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_, lock_path_;
    std::optional<FileLock> lock_;
};

// What a process left that is gone. As long as this lives nobody else is offered it.
struct Leftover {
    std::string path;
    std::chrono::system_clock::time_point when;  // it was written
    FileLock lock;
};

// The newest first. Half-written files of processes that are gone are removed on the way. Nothing where the folder
// can't be read.
[[nodiscard]] std::vector<Leftover> leftovers(const std::string& folder);
// Removes one for good.
void remove_leftover(const Leftover& leftover);

}  // namespace decoderscope
