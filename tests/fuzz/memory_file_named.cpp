// A file in memory where only a name leads to one: it lies in the folder for temporary files.
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <unistd.h>

namespace decoderscope::fuzz {

MemoryFile::MemoryFile() : path_("/tmp/decoderscope-fuzz-XXXXXX") {
    descriptor_ = ::mkstemp(path_.data());
    require(descriptor_ >= 0, "there is room for a file");
}

MemoryFile::~MemoryFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
}

void MemoryFile::write(std::string_view bytes) const {
    const bool empty = ::ftruncate(descriptor_, 0) == 0;
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), 0);
    require(empty && written == static_cast<ssize_t>(bytes.size()), "memory holds these bytes");
}

}  // namespace decoderscope::fuzz
