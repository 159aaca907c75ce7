#include "engine/platform/files.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2 is not in <cstdio>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace decoderscope::platform {

namespace {

std::error_code why() { return {errno, std::generic_category()}; }

int number(std::intptr_t handle) { return static_cast<int>(handle); }

int open_to_write(const std::string& path, WrittenFile::Kind kind) {
    constexpr mode_t kMode = 0666;  // reduced by the umask
    const int created = kind == WrittenFile::Kind::created ? O_CREAT | O_EXCL : 0;
    return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | created, kMode);
}

// Whether the opened file is still the one at that path: another process may have removed it before it was locked.
bool is_still_there(const std::string& path, int descriptor) {
    struct stat named {
    }, opened{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino;
}

}  // namespace

WrittenFile::WrittenFile(const std::string& path, Kind kind) : handle_(open_to_write(path, kind)) {
    if (!is_open()) failed_ = why();
}

std::error_code WrittenFile::write(const char* from, std::size_t count) {
    while (count > 0) {
        const ssize_t written = ::write(number(handle_), from, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return why();
        from += written;
        count -= static_cast<std::size_t>(written);
    }
    return {};
}

std::error_code WrittenFile::flush_to_disk() { return ::fsync(number(handle_)) == 0 ? std::error_code() : why(); }

std::error_code WrittenFile::keep_permissions(const std::string& of) {
    struct stat before {};
    if (::stat(of.c_str(), &before) != 0) return {};
    // Keeps another owner's file theirs, if the system allows it. The mode is set last, because changing the owner
    // clears bits of it.
    const bool kept_owner = ::fchown(number(handle_), before.st_uid, before.st_gid) == 0;
    const mode_t kept = before.st_mode & (kept_owner ? mode_t{07777} : mode_t{0777});
    return ::fchmod(number(handle_), kept) == 0 ? std::error_code() : why();
}

std::error_code WrittenFile::close() {
    return !is_open() || ::close(number(std::exchange(handle_, -1))) == 0 ? std::error_code() : why();
}

std::error_code write_protection(const std::string& file) {
    return ::access(file.c_str(), W_OK) != 0 && errno != ENOENT ? why() : std::error_code();
}

std::error_code folder_protection(const std::string& folder) {
    return ::access(folder.c_str(), W_OK) != 0 ? why() : std::error_code();
}

std::error_code replace_file(const std::string& from, const std::string& to) {
    return ::rename(from.c_str(), to.c_str()) == 0 ? std::error_code() : why();
}

// Not every file system can do this for a folder, and not every folder may be opened.
std::error_code flush_folder(const std::string& folder) {
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return {};
    const bool lost = ::fsync(opened) != 0 && errno == EIO;
    const std::error_code failed = lost ? why() : std::error_code();
    ::close(opened);
    return failed;
}

bool exchange(const std::string& one, const std::string& other) {
#ifdef RENAME_EXCHANGE
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
#else
    static_cast<void>(one), static_cast<void>(other);
    return false;
#endif
}

std::optional<FileLock> FileLock::take(const std::string& path, std::error_code& failed) {
    constexpr mode_t kOwnersAlone = 0600;
    failed.clear();
    for (;;) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnersAlone);
        if (descriptor < 0) {
            failed = why();
            return std::nullopt;
        }
        FileLock lock(descriptor);
        if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
        if (is_still_there(path, descriptor)) return lock;
    }
}

FileLock::~FileLock() {
    if (handle_ >= 0) ::close(number(handle_));
}

std::size_t name_in_path(std::string_view path) { return path.rfind('/') + 1; }

}  // namespace decoderscope::platform
