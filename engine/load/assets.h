#pragma once

#include <span>
#include <string>
#include <string_view>

namespace decoderscope::load {

// The models that the project trained itself, in the order in which they are offered. Each is a folder that opens like
// any other model's; next to the files that the program reads are its training script and its model card.
[[nodiscard]] std::span<const std::string_view> trained_models();

// The folder of one of them: next to the installed program, or in the source tree that the program was built from.
// Throws Error naming both places if it is in neither.
[[nodiscard]] std::string trained_model_folder(std::string_view name);

// Another file that comes with the program, "recorder/record.py", in the same two places. Throws the same Error.
[[nodiscard]] std::string asset_path(std::string_view file);

}  // namespace decoderscope::load
