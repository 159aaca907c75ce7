#include "engine/files/path_kind.h"

#include "engine/base/file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace decoderscope {

namespace fs = std::filesystem;

bool leads_to_folder(const fs::path& path) {
    std::error_code failed;
    return fs::is_directory(path, failed);
}

bool is_pickled(const fs::path& path) {
    static constexpr std::array<std::string_view, 6> endings = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"};
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

PathKind kind_of_path(const fs::path& path) {
    if (leads_to_folder(path)) {
        const bool model =
            is_there(path / kWeightsFile) || is_there(path / kWeightsIndex) || is_there(path / "config.json");
        return model ? PathKind::model_folder : PathKind::folder;
    }
    if (path.extension() == ".safetensors" || path.extension() == kGgufEnding) return PathKind::weights;
    const std::string name = path.filename().string();
    if (path.extension() == ".npz" || name.ends_with(".manifest.json") || name.ends_with("_FULL_TENSORS.json"))
        return PathKind::trace;
    return is_pickled(path) ? PathKind::pickled : PathKind::other;
}

}  // namespace decoderscope
