#include "engine/load/assets.h"

#include "engine/base/error.h"
#include "engine/platform/folders.h"

#include <array>
#include <filesystem>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

fs::path installed_folder() { return platform::share_folder() / "models"; }

}  // namespace

std::span<const std::string_view> trained_models() {
    static constexpr std::array<std::string_view, 7> names = {
        "words", "reverse", "reverse-post-norm", "dates", "induction", "verses", "experts"};
    return names;
}

std::string trained_model_folder(std::string_view name) {
    const fs::path installed = installed_folder(), source = DECODERSCOPE_SOURCE_MODELS;
    for (const fs::path& folder : {installed, source}) {
        std::error_code failed;
        if (fs::exists(folder / name / "model.safetensors", failed)) return (folder / name).string();
    }
    throw Error("{name}: the model's files are missing, expected them in {installed} or {source}",
                {{"name", name}, {"installed", (installed / name).string()}, {"source", (source / name).string()}});
}

std::string asset_path(std::string_view file) {
    const fs::path installed = installed_folder().parent_path() / file;
    const fs::path source = fs::path(DECODERSCOPE_SOURCE_MODELS).parent_path() / file;
    for (const fs::path& path : {installed, source}) {
        std::error_code failed;
        if (fs::exists(path, failed)) return path.string();
    }
    throw Error("{name}: missing, expected it at {installed} or {source}",
                {{"name", file}, {"installed", installed.string()}, {"source", source.string()}});
}

}  // namespace decoderscope::load
