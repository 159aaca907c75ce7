// A file in memory: Linux gives one without a name.
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

namespace decoderscope::fuzz {

MemoryFile::MemoryFile()
    : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    require(descriptor_ >= 0, "memory holds a file");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

void MemoryFile::write(std::string_view bytes) const {
    const bool empty = ::ftruncate(descriptor_, 0) == 0;
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), 0);
    require(empty && written == static_cast<ssize_t>(bytes.size()), "memory holds these bytes");
}

void MemoryFile::put_at(const std::filesystem::path& file) const { std::filesystem::create_symlink(path_, file); }

}  // namespace decoderscope::fuzz
