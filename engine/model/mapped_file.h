#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace decoderscope {

// A file's bytes in memory, brought in from the disk as they are looked at; private to this process: writing to them
// never reaches the file.
//
// Bytes that the file loses while it is mapped (it was cut short in place) can't be read any more: what asks for
// check() beforehand gets an Error, and whoever touches them nevertheless, somewhere in the middle of a computation,
// ends the program with one sentence that names the file and status 1. There is no number to go on with, and no wrong
// one may be shown; what the session holds was saved before.
class MappedFile {
public:
    // Throws Error naming the file where it can't be read or is no file but a folder, a pipe or a device.
    explicit MappedFile(const std::string& path);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const char* data() const { return bytes_.get(); }
    // For who reads some of the bytes longer than this is there.
    [[nodiscard]] const std::shared_ptr<char>& bytes() const { return bytes_; }

    [[nodiscard]] const std::shared_ptr<const int>& descriptor() const { return descriptor_; }

    // Throws Error where the file is no longer as long as it was.
    void check() const;

private:
    std::string path_;
    std::size_t size_ = 0;
    std::shared_ptr<const int> descriptor_;
    std::shared_ptr<char> bytes_;
};

}  // namespace decoderscope
