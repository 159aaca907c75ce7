#include "engine/model/mapped_file.h"

#include "engine/error.h"
#include "engine/model/cut_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace decoderscope {

namespace {

std::shared_ptr<const int> open_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
    if (file < 0) throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
    return {new int(file), [](const int* descriptor) {
                ::close(*descriptor);
                delete descriptor;
            }};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path), descriptor_(open_file(path)) {
    const auto fail = [&] {
        throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
    };
    struct stat status {};
    if (::fstat(*descriptor_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode))
        throw Error("{path}: expected a safetensors file, found something that is not a file", {{"path", path}});
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // nothing to map
    void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, *descriptor_, 0);
    if (memory == MAP_FAILED) fail();
    // Small pages can be released one by one (Storage::leave_to_file); with large pages, each touch brings back two
    // megabytes.
    ::madvise(memory, size_, MADV_NOHUGEPAGE);
    auto* begin = static_cast<char*>(memory);
    bytes_ = {begin, [size = size_, watch = watch_for_cuts(path, {begin, size_})](char* bytes) mutable {
                  watch.reset();
                  ::munmap(bytes, size);
              }};
}

void MappedFile::check() const {
    struct stat status {};
    if (::fstat(*descriptor_, &status) == 0 && static_cast<std::size_t>(status.st_size) >= size_) return;
    throw Error("{path}: was cut short after it was opened, expected it to stay {size} bytes long",
                {{"path", path_}, {"size", size_}});
}

}  // namespace decoderscope
