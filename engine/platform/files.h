#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

// What is done with files below the standard library. Paths are UTF-8.
namespace decoderscope::platform {

// A file, opened to be written.
class WrittenFile {
public:
    enum class Kind { created, device };  // one that must not be there yet; a pipe or a device, which is

    WrittenFile(const std::string& path, Kind kind);
    WrittenFile(const WrittenFile&) = delete;
    WrittenFile& operator=(const WrittenFile&) = delete;
    ~WrittenFile() { static_cast<void>(close()); }

    [[nodiscard]] bool is_open() const { return handle_ >= 0; }
    // Why it could not be opened.
    [[nodiscard]] const std::error_code& failed() const { return failed_; }

    // Each returns why it could not be done.
    [[nodiscard]] std::error_code write(const char* from, std::size_t count);
    [[nodiscard]] std::error_code flush_to_disk();
    // Gives it the owner and the permissions of an existing file; nothing if there is none.
    [[nodiscard]] std::error_code keep_permissions(const std::string& of);
    // Some file systems report only here that what was written could not be stored.
    [[nodiscard]] std::error_code close();

private:
    std::intptr_t handle_;  // a descriptor, or Windows' handle
    std::error_code failed_;
};

// Why a file may not be written; nothing if it may be, or doesn't exist.
[[nodiscard]] std::error_code write_protection(const std::string& file);
// As above, for what a folder holds.
[[nodiscard]] std::error_code folder_protection(const std::string& folder);

// Gives a file another file's name, and replaces that file.
[[nodiscard]] std::error_code replace_file(const std::string& from, const std::string& to);
// Flushes a new name in a folder to disk, if the file system can.
[[nodiscard]] std::error_code flush_folder(const std::string& folder);
// Two folders take each other's name at once. False if the system can't.
[[nodiscard]] bool exchange(const std::string& one, const std::string& other);

// A lock on a file created for it. Held until this is destroyed or the process ends.
class FileLock {
public:
    // Returns nothing if another process holds it or, with `failed` set, if the file can't be created.
    [[nodiscard]] static std::optional<FileLock> take(const std::string& path, std::error_code& failed);
    FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
    FileLock& operator=(FileLock&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

private:
    explicit FileLock(std::intptr_t handle) : handle_(handle) {}
    std::intptr_t handle_;
};

// Where a path's last name begins: after the last slash, on Windows also after a backslash or a drive's colon.
[[nodiscard]] std::size_t name_in_path(std::string_view path);

}  // namespace decoderscope::platform
