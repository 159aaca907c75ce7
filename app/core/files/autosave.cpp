#include "app/core/files/autosave.h"

#include "engine/base/error.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
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
        Remains& remains = found[folder + "/" + name.substr(0, name.find('.'))];
        (name.ends_with(kEnding) ? remains.autosaves : remains.others).push_back(at->path());
    }
    return found;
}

// Whether the opened file is still the one at that path: another process may have removed it before it was locked.
bool is_still_there(const std::string& path, int descriptor) {
    struct stat named {
    }, opened{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino;
}

std::optional<FileLock> take_if_it_can_be_made(const std::string& path) {
    try {
        return FileLock::take(path);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

std::string autosave_folder() {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    if (state != nullptr && *state != '\0') return (fs::path(state) / "decoderscope").string();
    if (home != nullptr && *home != '\0') return (fs::path(home) / ".local" / "state" / "decoderscope").string();
    return {};
}

std::optional<FileLock> FileLock::take(const std::string& path) {
    constexpr mode_t kOwnersAlone = 0600;
    for (;;) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnersAlone);
        if (descriptor < 0)
            throw Error("{path}: cannot be written: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
        FileLock lock(descriptor);
        if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
        if (is_still_there(path, descriptor)) return lock;
    }
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

AutosaveSlot::AutosaveSlot(const std::string& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        throw Error("{folder}: cannot be created: {reason}", {{"folder", folder}, {"reason", failed.message()}});
    const std::string name = folder + "/" + std::string(kBeginning) + std::to_string(::getpid());
    for (int number = 0; !lock_; ++number) {
        const std::string stem = number == 0 ? name : name + "-" + std::to_string(number);
        path_ = stem + std::string(kEnding);
        lock_path_ = stem + std::string(kLockEnding);
        lock_ = FileLock::take(lock_path_);
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
        auto lock = take_if_it_can_be_made(stem + std::string(kLockEnding));
        if (!lock) continue;  // the process still runs
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
