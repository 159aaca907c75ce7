#include "app/core/files/autosave.h"

#include "engine/base/error.h"
#include "engine/platform/folders.h"
#include "engine/platform/process.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace decoderscope::core::files {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBeginning = "autosave-", kEnding = ".dscope", kLockEnding = ".lock";

// Everything that one process left: "…/autosave-123" and its files.
struct Remains {
    std::vector<fs::path> autosaves;  // none, or one
    std::vector<fs::path> others;     // half-written ones, and the lock
};

std::map<std::string, Remains> remains_in(const std::string& folder) {
    std::map<std::string, Remains> found;
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(kBeginning)) continue;
        Remains& remains = found[(fs::path(folder) / name.substr(0, name.find('.'))).string()];
        (name.ends_with(kEnding) ? remains.autosaves : remains.others).push_back(at->path());
    }
    return found;
}

}  // namespace

std::string autosave_folder() {
    const std::string state = platform::state_folder();
    return state.empty() ? std::string() : (fs::path(state) / "decoderscope").string();
}

AutosaveSlot::AutosaveSlot(const std::string& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        throw Error("{folder}: cannot be created: {reason}", {{"folder", folder}, {"reason", failed.message()}});
    const std::string name =
        (fs::path(folder) / (std::string(kBeginning) + std::to_string(platform::process_number()))).string();
    for (int number = 0; !lock_; ++number) {
        const std::string stem = number == 0 ? name : name + "-" + std::to_string(number);
        path_ = stem + std::string(kEnding);
        lock_path_ = stem + std::string(kLockEnding);
        lock_ = platform::FileLock::take(lock_path_, failed);
        if (failed)
            throw Error("{path}: cannot be written: {reason}", {{"path", lock_path_}, {"reason", failed.message()}});
        if (fs::exists(path_, failed)) lock_.reset();  // a leftover of another process
    }
}

AutosaveSlot::~AutosaveSlot() {
    std::error_code ignored;
    if (!fs::exists(path_, ignored)) fs::remove(lock_path_, ignored);
}

std::vector<Leftover> leftovers(const std::string& folder) {
    std::vector<Leftover> found;
    std::error_code failed;
    for (const auto& [stem, remains] : remains_in(folder)) {
        auto lock = platform::FileLock::take(stem + std::string(kLockEnding), failed);
        if (!lock) continue;  // the process still runs, or the folder can't be written
        for (const fs::path& other : remains.others)
            if (!other.string().ends_with(kLockEnding) || remains.autosaves.empty()) fs::remove(other, failed);
        if (remains.autosaves.empty()) continue;
        const fs::path& path = remains.autosaves.front();
        const auto when = std::chrono::file_clock::to_sys(fs::last_write_time(path, failed));
        found.push_back({path.string(), std::chrono::time_point_cast<std::chrono::seconds>(when), std::move(*lock)});
    }
    std::sort(found.begin(), found.end(), [](const Leftover& a, const Leftover& b) { return a.when > b.when; });
    return found;
}

void remove_leftover(const Leftover& leftover) {
    std::error_code ignored;
    fs::remove(leftover.path, ignored);
    fs::remove(leftover.path.substr(0, leftover.path.size() - kEnding.size()) + std::string(kLockEnding), ignored);
}

}  // namespace decoderscope::core::files
