#pragma once

#include "engine/limits.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace decoderscope {

// The whole of a text file of at most `limit` bytes. Throws Error naming the file where it can't be read or is larger.
[[nodiscard]] std::string read_text(const std::string& path, std::size_t limit = limits::kTextBytes);

// Writes a file through a temporary beside it, which is flushed to the disk and then renamed: it appears whole or not
// at all, and what stood there stays until then, whatever happens to the program or the machine. A link stays a link,
// and the file behind it is written; a file that is replaced keeps its permissions. Throws Error naming the file and
// why.
void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace decoderscope
