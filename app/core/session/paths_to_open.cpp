#include "app/core/session/paths_to_open.h"

#include "app/core/files/link.h"
#include "app/core/files/session_file.h"
#include "app/core/run/overlay.h"
#include "app/core/text/characters.h"
#include "engine/load/bundled_models.h"
#include "engine/platform/files.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace decoderscope::core {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 200;
constexpr std::size_t kMostLookedAt = 20'000;

std::string without_quotes(std::string_view text) {
    for (const char quote : {'"', '\''})
        if (text.size() >= 2 && text.front() == quote && text.back() == quote) text = text.substr(1, text.size() - 2);
    return std::string(text);
}

// The longest common prefix of all entries.
std::string common_path(const std::vector<PathList::Entry>& entries) {
    std::string common = entries.front().path;
    for (const PathList::Entry& entry : entries) {
        const auto [end, ignored] = std::mismatch(common.begin(), common.end(), entry.path.begin(), entry.path.end());
        common.erase(end, common.end());
    }
    return common;
}

// A file that says which others belong to it, and what is opened for it: itself, or its folder; otherwise nothing.
std::optional<std::string> opened_for_list(const fs::path& path) {
    const std::string name = path.filename().string();
    if (name.ends_with(".manifest.json")) return path.string();
    if (name == "model.safetensors.index.json") return path.parent_path().string();
    return std::nullopt;
}

bool worth_listing(PathKind kind) { return kind != PathKind::other; }

}  // namespace

std::string path_of(std::string_view typed) {
    std::string path = without_quotes(trimmed(typed));
    const std::string home = platform::home_folder();
    const bool at_home = path == "~" || (path.starts_with("~") && platform::name_in_path(path.substr(0, 2)) == 2);
    if (at_home && !home.empty()) path.replace(0, 1, home);
    return path;
}

PathList list_paths(std::string_view typed) {
    PathList list;
    list.completed = std::string(typed);
    const std::string path = path_of(typed);
    const std::string before = path.substr(0, platform::name_in_path(path));
    const std::string begun = path.substr(before.size());
    list.folder = before.empty() ? "." : before;
    // A folder that is completed ends as the typed ones do: on Windows in either slash.
    const char slash = before.ends_with('\\') ? '\\' : '/';
    std::error_code failed;
    std::vector<std::string> names;
    for (fs::directory_iterator at(list.folder, failed), end; !failed && at != end; at.increment(failed)) {
        if (names.size() >= kMostLookedAt) {
            list.more = true;
            break;
        }
        std::string name = at->path().filename().string();
        if (name.starts_with(begun) && (name[0] != '.' || !begun.empty())) names.push_back(std::move(name));
    }
    // A bundled model's name is typed without a folder.
    for (const load::BundledModel& model : load::bundled_models())
        if (before.empty() && !begun.empty() && model.name.starts_with(begun))
            list.entries.push_back({model.name, model.name, PathKind::model_folder});
    if (failed) list.error = message("{folder}: {reason}", {{"folder", list.folder}, {"reason", failed.message()}});
    std::ranges::sort(names);
    for (const std::string& name : names) {
        const PathKind kind = kind_of_path((fs::path(list.folder) / name).string());
        const bool session = kind == PathKind::other && files::is_session_path(name);
        // Too many JSON files are something else; one that is typed is opened.
        const bool numbers = kind == PathKind::other && name.ends_with(".csv");
        if (!session && !numbers && !worth_listing(kind)) continue;
        if (list.entries.size() >= kMostEntries) {
            list.more = true;
            break;
        }
        const bool folder = kind == PathKind::folder || kind == PathKind::model_folder;
        list.entries.push_back({name + (folder ? "/" : ""), before + name + (folder ? std::string(1, slash) : ""), kind,
                                session, numbers});
    }
    if (list.entries.empty()) return list;
    if (const std::string common = common_path(list.entries); common.size() > path.size()) list.completed = common;
    return list;
}

std::string model_among(std::span<const std::string> paths) {
    for (const std::string& path : paths)
        if (const auto opened = opened_for_list(path)) return *opened;
    std::optional<std::string> convertible;
    for (const std::string& path : paths) {
        const PathKind kind = kind_of_path(path);
        if (kind == PathKind::model_folder || kind == PathKind::weights || kind == PathKind::trace ||
            files::is_session_path(path))
            return path;
        if (kind == PathKind::pickled && !convertible) convertible = path;
    }
    return convertible.value_or(paths.empty() ? std::string() : paths.front());
}

Command opening_command(const std::string& path) {
    if (files::is_link(path)) return command::OpenLink{path};
    if (files::is_session_path(path)) return command::OpenSession{path};
    if (is_overlay_path(path)) return command::OpenOverlay{path};
    return command::OpenModel{path, {}};
}

}  // namespace decoderscope::core
