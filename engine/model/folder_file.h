#pragma once

#include <filesystem>
#include <string>

namespace decoderscope {

// Whether a model's folder has this file. If that can't be determined (a link to itself), the answer is yes: reading
// the file then reports what is wrong.
[[nodiscard]] bool is_there(const std::filesystem::path& file);

// Its text. Throws Error naming the file if it can't be read, or if it is a pipe or a device, which might block.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& file);

}  // namespace decoderscope
