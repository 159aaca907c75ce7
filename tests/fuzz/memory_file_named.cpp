// A file in memory where only a name leads to one: it lies in the folder for temporary files.
#include "tests/fuzz/fuzz.h"

#include <filesystem>
#include <fstream>

namespace decoderscope::fuzz {

MemoryFile::MemoryFile() : path_(temporary_name().string()) {}

MemoryFile::~MemoryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

void MemoryFile::write(std::string_view bytes) const {
    std::ofstream file(path_, std::ios::binary);
    require(static_cast<bool>(file << bytes << std::flush), "there is room for these bytes");
}

void MemoryFile::put_at(const std::filesystem::path& file) const { std::filesystem::copy_file(path_, file); }

}  // namespace decoderscope::fuzz
