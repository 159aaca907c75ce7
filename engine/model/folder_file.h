#pragma once

#include <filesystem>
#include <string>

namespace decoderscope {

// A file that may be in a model's folder. It is taken to be there where that can't be told (a link that leads back to
// itself), too: reading it then says what is wrong.
[[nodiscard]] bool is_there(const std::filesystem::path& file);

// Its text. Throws Error naming the file where it can't be read, and where it is a pipe or a device, which might keep
// the program waiting.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& file);

}  // namespace decoderscope
