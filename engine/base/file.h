#pragma once

#include "engine/base/limits.h"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace decoderscope {

// The contents of a text file of at most `limit` bytes. Throws Error naming the file if it can't be read or is larger.
[[nodiscard]] std::string read_text(const std::string& path, std::size_t limit = limits::kTextBytes);

// Writes a file through a temporary next to it, which is flushed to disk and then renamed. The file appears whole or
// not at all, and the old one stays until then, even if the program or the machine crashes. A link stays a link, and
// its target is written; a replaced file keeps its permissions. Throws Error naming the file and why.
void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

// How the name of what is written beside a file or a folder begins, before it is renamed to it: path and ending, the
// name cut where the whole would be longer than a system's names.
[[nodiscard]] std::string name_beside(const std::string& path, std::string_view ending);

// The absolute path, without "." and ".."; the path unchanged if the current directory is unknown.
[[nodiscard]] std::string absolute_path(const std::string& path);

// A new name beside a file or a folder, for what gets its name when it is whole. Removes what processes that were
// killed while writing it left under such names.
[[nodiscard]] std::string temporary_beside(const std::string& path);

// Whether a model's folder has this file. If that can't be determined (a link to itself), the answer is yes: reading
// the file then reports what is wrong.
[[nodiscard]] bool is_there(const std::filesystem::path& file);

// Its text. Throws Error naming the file if it can't be read, or if it is a pipe or a device, which might block.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& file);

}  // namespace decoderscope
