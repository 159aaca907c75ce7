#include "app/views/widgets/font_files.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace decoderscope {
namespace {

std::vector<std::filesystem::path> font_roots() {
    std::vector<std::filesystem::path> roots{"/usr/local/share/fonts", "/usr/share/fonts"};
    if (const char* home = std::getenv("HOME")) {
        roots.insert(roots.begin(), std::filesystem::path(home) / ".fonts");
        roots.insert(roots.begin(), std::filesystem::path(home) / ".local/share/fonts");
    }
    return roots;
}

std::optional<std::filesystem::path> find_font(std::string_view file) {
    std::error_code ignored;
    for (const auto& root : font_roots()) {
        if (!std::filesystem::is_directory(root, ignored)) continue;
        for (const char* below :
             {"", "inter", "jetbrains-mono", "dejavu", "opentype/inter", "truetype/inter", "truetype/jetbrains-mono",
              "truetype/dejavu", "TTF", "OTF", "opentype/noto", "truetype/noto", "noto-cjk", "google-noto-cjk",
              "truetype/wqy", "wqy-microhei", "truetype/droid", "droid"}) {
            const auto path = root / below / file;
            if (std::filesystem::is_regular_file(path, ignored)) return path;
        }
    }
    return std::nullopt;
}

std::vector<char> read_all(const std::filesystem::path& path) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(path, failed);
    if (failed) return {};
    std::vector<char> bytes(static_cast<std::size_t>(size));
    if (!std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        return {};
    return bytes;
}

}  // namespace

std::span<char> FontFiles::bytes(std::string_view file) {
    if (const auto known = read_.find(file); known != read_.end()) return known->second;
    // One that is missing is searched for again: a page loads fonts on demand.
    const auto path = find_font(file);
    if (!path) return {};
    return read_.emplace(file, read_all(*path)).first->second;
}

}  // namespace decoderscope
