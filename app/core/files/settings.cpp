#include "app/core/files/settings.h"

#include "app/core/run/bounds.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/platform/files.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <type_traits>
#include <utility>

namespace decoderscope::core::files {

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

// What is kept under a key of its own, by its kind.
constexpr std::pair<const char*, bool Settings::*> kFlags[] = {{"strip_folded", &Settings::strip_folded},
                                                               {"inspector_folded", &Settings::inspector_folded},
                                                               {"large_pointer", &Settings::large_pointer},
                                                               {"introduction_closed", &Settings::introduction_closed}};
constexpr std::pair<const char*, std::optional<bool> Settings::*> kChoices[] = {
    {"dark", &Settings::dark}, {"reduced_motion", &Settings::reduced_motion}};
constexpr std::pair<const char*, std::string Settings::*> kTexts[] = {{"language", &Settings::language},
                                                                      {"browser_address", &Settings::browser_address}};

float length(const OrderedJson& json, const char* key, float otherwise, const Bounds<float>& bounds) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return otherwise;
    const auto value = found->get<double>();
    return std::isfinite(value) ? bounds.nearest(static_cast<float>(value)) : otherwise;
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

std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& path) {
    constexpr std::size_t kMost = 8;
    std::erase(recent, path);
    recent.insert(recent.begin(), path);
    if (recent.size() > kMost) recent.resize(kMost);
    return recent;
}

std::string settings_path() {
    const std::string folder = platform::config_folder();
    return folder.empty() ? std::string() : (fs::path(folder) / "decoderscope" / "settings.json").string();
}

Settings load_settings(const std::string& path) {
    try {
        return read_settings(path);
    } catch (const Error&) {
        return {};
    }
}

Sentence set_aside(const std::string& path, const Sentence& why) {
    std::string kept = path + ".damaged";
    for (int number = 2; is_there(kept); ++number) kept = path + ".damaged-" + std::to_string(number);
    if (const std::error_code failed = platform::replace_file(path, kept))
        throw Error("{why}; it is left as it is, and nothing is kept there", {{"why", why}});
    return message("{why}; it is kept as {file}, and a new one is begun",
                   {{"why", why}, {"file", fs::path(kept).filename().string()}});
}

Settings read_settings(const std::string& path) {
    Settings settings;
    if (!is_there(path)) return settings;
    const std::string text = read_text(path, std::size_t{1} << 20);
    const OrderedJson json = naming(path, [&] {
        OrderedJson read = parse_ordered_json(text, message("an object"));
        if (!read.is_object()) throw Error("expected an object");
        return read;
    });
    const auto read = [&]<class T>(const char* key, T& to) {
        const auto found = json.find(key);
        if (found != json.end() && (std::is_same_v<T, std::string> ? found->is_string() : found->is_boolean()))
            to = found->get<std::conditional_t<std::is_same_v<T, std::string>, std::string, bool>>();
    };
    for (const auto& [key, member] : kFlags) read(key, settings.*member);
    for (const auto& [key, member] : kChoices) read(key, settings.*member);
    for (const auto& [key, member] : kTexts) read(key, settings.*member);
    settings.text_scale = length(json, "text_scale", settings.text_scale, bounds::kTextScale);
    settings.inspector_width = length(json, "inspector_width", settings.inspector_width, bounds::kPanelWidth);
    const auto map = json.find("color_map");
    if (map != json.end() && *map == color_map_name(ColorMap::cividis)) settings.sequential = ColorMap::cividis;
    if (const auto recent = json.find("recent"); recent != json.end() && recent->is_array())
        for (auto entry = recent->rbegin(); entry != recent->rend(); ++entry)
            if (entry->is_string()) settings.recent = with_recent(settings.recent, entry->get<std::string>());
    return settings;
}

void save_settings(const std::string& path, const Settings& settings) {
    std::error_code failed;
    const fs::path folder = fs::path(path).parent_path();
    fs::create_directories(folder, failed);
    if (failed)
        throw Error("{folder}: cannot be created: {reason}",
                    {{"folder", folder.string()}, {"reason", failed.message()}});
    OrderedJson json = {{"text_scale", settings.text_scale},
                        {"color_map", color_map_name(settings.sequential)},
                        {"inspector_width", settings.inspector_width},
                        {"recent", settings.recent}};
    for (const auto& [key, member] : kFlags) json[key] = settings.*member;
    for (const auto& [key, member] : kTexts) json[key] = settings.*member;
    for (const auto& [key, member] : kChoices)
        if (settings.*member) json[key] = *(settings.*member);
    // JSON must be UTF-8, but a path need not be.
    const std::string text = json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
    write_whole(path, [&](std::ostream& out) { out << text << '\n'; });
}

}  // namespace decoderscope::core::files
