#include "app/core/work/desktop_motion.h"

#include "engine/error.h"
#include "engine/file.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

// The value of a key of an INI file, whatever its section; nothing without the file or the key.
std::optional<std::string> ini_value(const fs::path& path, const std::string& key) {
    std::string text;
    try {
        text = read_text(path.string(), std::size_t{1} << 20);
    } catch (const Error&) {
        return std::nullopt;
    }
    std::optional<std::string> value;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
        if (line.starts_with(key + "=")) value = line.substr(key.size() + 1);
    }
    return value;
}

}  // namespace

bool desktop_reduces_motion(const std::string& config_folder) {
    if (config_folder.empty()) return false;
    for (const char* gtk : {"gtk-4.0", "gtk-3.0"}) {
        const auto animations = ini_value(fs::path(config_folder) / gtk / "settings.ini", "gtk-enable-animations");
        if (animations) return *animations == "0" || *animations == "false" || *animations == "FALSE";
    }
    const auto factor = ini_value(fs::path(config_folder) / "kdeglobals", "AnimationDurationFactor");
    return factor && !factor->empty() && std::strtod(factor->c_str(), nullptr) == 0.0;
}

std::string config_folder() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config != nullptr && *config != '\0') return config;
    if (home != nullptr && *home != '\0') return (fs::path(home) / ".config").string();
    return {};
}

}  // namespace decoderscope
