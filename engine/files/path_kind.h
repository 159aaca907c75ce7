#pragma once

#include <filesystem>

namespace decoderscope {

// What is at a path, judging by its name and file type.
enum class PathKind { other, folder, model_folder, weights, pickled, trace };
[[nodiscard]] PathKind kind_of_path(const std::filesystem::path& path);

// A folder, or a link to one.
[[nodiscard]] bool leads_to_folder(const std::filesystem::path& path);
// A file that Python pickled, by its ending.
[[nodiscard]] bool is_pickled(const std::filesystem::path& path);

// The names that Hugging Face gives a model's weights, in one file or in several, and their index.
inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kWeightsIndex = "model.safetensors.index.json";
// How llama.cpp's and Ollama's files end, which hold a whole model.
inline constexpr const char* kGgufEnding = ".gguf";

}  // namespace decoderscope
