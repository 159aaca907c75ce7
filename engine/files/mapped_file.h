#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace decoderscope {

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

    [[nodiscard]] const std::shared_ptr<const int>& descriptor() const { return descriptor_; }

    // Throws Error if the file's length has changed.
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
