#pragma once

#include "engine/limits.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace decoderscope {

// The whole of a text file of at most `limit` bytes. Throws Error naming the file where it can't be read or is larger.
[[nodiscard]] std::string read_text(const std::string& path, std::size_t limit = limits::kTextBytes);

// Writes a file through a temporary beside it, flushed and then renamed: it appears whole or not at all, and what stood
// there stays until then. Throws Error naming the file and why.
void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace decoderscope
