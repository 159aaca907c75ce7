#include "engine/load/assets.h"

#include "engine/base/error.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

namespace decoderscope::load {

namespace {

namespace fs = std::filesystem;

// The build makes both of assets/ (engine/CMakeLists.txt).
constexpr auto kTables = std::to_array<std::pair<std::string_view, const char*>>({
#include "asset_tables.inc"
});
constexpr auto kTexts = std::to_array<Phrase>({
#include "asset_texts.inc"
});

fs::path installed_folder() { return platform::share_folder() / "models"; }

}  // namespace

std::span<const std::string_view> trained_models() {
    static constexpr std::array<std::string_view, 6> names = {
        "reverse", "reverse-post-norm", "dates", "induction", "verses", "experts"};
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

const OrderedJson& asset_table(std::string_view name) {
    static const auto tables = [] {
        std::map<std::string_view, OrderedJson> read;
        for (const auto& [table, json] : kTables) read.emplace(table, OrderedJson::parse(std::string(json)));
        return read;
    }();
    return tables.at(name);
}

Sentence asset_text(std::string_view text, const Arguments& arguments) {
    const auto found =
        std::ranges::find(kTexts, text, [](const Phrase& phrase) { return std::string_view(phrase.english()); });
    return found == kTexts.end() ? Sentence::verbatim(text) : Sentence(*found, arguments);
}

}  // namespace decoderscope::load
