#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

namespace decoderscope {

// How much of a model has been read, and how to stop reading: shared by the thread that reads and the one that waits.
struct LoadProgress {
    std::atomic<std::size_t> bytes_read = 0;
    std::atomic<std::size_t> bytes_total = 0;  // 0: not known yet
    std::stop_token stop;                      // set before the reading starts
    // How many bytes the weights may take as floats that a file stores in fewer bits (engine/load/expanded.h); 0: three
    // quarters of this machine's memory. Set before the reading starts.
    std::uint64_t memory = 0;
};

// Thrown out of a load that was stopped. Nothing went wrong, so it is not an Error.
class LoadStopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

// A file mapped into memory: its bytes are read from disk on demand. The mapping is private to this process: writing to
// it never reaches the file.
//
// If the file is truncated in place while mapped, the lost bytes can no longer be read. Code that calls check() first
// gets an Error. Touching them anyway, in the middle of a computation, ends the program with one sentence that names
// the file and status 1: there is no value to continue with, and no wrong one may be shown. The session was saved
// before.
class MappedFile {
public:
    // Throws Error naming the file if it can't be read, or is a folder, a pipe or a device.
    explicit MappedFile(const std::string& path);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const char* data() const { return bytes_.get(); }
    // For code that reads the bytes after this object is destroyed.
    [[nodiscard]] const std::shared_ptr<char>& bytes() const { return bytes_; }

    // The open file; nullptr if so many are open that this one was closed again.
    [[nodiscard]] const std::shared_ptr<const int>& descriptor() const { return descriptor_; }

    // Throws Error if the file's length has changed, as far as that is known.
    void check() const;

private:
    std::string path_;
    std::size_t size_ = 0;
    std::shared_ptr<const int> descriptor_;
    std::shared_ptr<char> bytes_;
};

// As long as the returned pointer is held, touching bytes of this mapping that its file no longer has ends the program
// with one sentence on standard error that names the file, and status 1, instead of a bus error.
//
// A signal handler has no context, so the list of watched mappings is global.
[[nodiscard]] std::shared_ptr<const void> guard_against_truncation(const std::string& path,
                                                                   std::span<const char> mapping);

}  // namespace decoderscope
