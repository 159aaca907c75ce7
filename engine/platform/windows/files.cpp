#include "engine/platform/files.h"

#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <algorithm>
#include <atomic>

namespace decoderscope::platform {

namespace {

// Numbers of GetLastError(), in words of the system's language.
class WindowsErrors : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "windows"; }
    [[nodiscard]] std::string message(int number) const override {
        return windows_reason(static_cast<unsigned long>(number));
    }
};

std::error_code why(DWORD error) {
    static const WindowsErrors errors;
    return {static_cast<int>(error), errors};
}
std::error_code why() { return why(::GetLastError()); }

HANDLE handle_of(std::intptr_t number) { return reinterpret_cast<HANDLE>(number); }

std::intptr_t open_to_write(const std::string& path, WrittenFile::Kind kind) {
    const bool created = kind == WrittenFile::Kind::created;
    return reinterpret_cast<std::intptr_t>(::CreateFileW(wide_path(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ,
                                                         nullptr, created ? CREATE_NEW : OPEN_EXISTING,
                                                         FILE_ATTRIBUTE_NORMAL, nullptr));
}

}  // namespace

WrittenFile::WrittenFile(const std::string& path, Kind kind) : handle_(open_to_write(path, kind)) {
    if (!is_open()) failed_ = why();  // INVALID_HANDLE_VALUE is −1
}

std::error_code WrittenFile::write(const char* from, std::size_t count) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // a call takes 32 bits
    while (count > 0) {
        DWORD written = 0;
        if (::WriteFile(handle_of(handle_), from, static_cast<DWORD>(std::min(count, kMost)), &written, nullptr) == 0)
            return why();
        from += written;
        count -= written;
    }
    return {};
}

std::error_code WrittenFile::flush_to_disk() {
    return ::FlushFileBuffers(handle_of(handle_)) != 0 ? std::error_code() : why();
}

// A new file has those of its folder.
std::error_code WrittenFile::keep_permissions(const std::string&) { return {}; }

std::error_code WrittenFile::close() {
    return !is_open() || ::CloseHandle(handle_of(std::exchange(handle_, -1))) != 0 ? std::error_code() : why();
}

std::error_code write_protection(const std::string& file) {
    const DWORD attributes = ::GetFileAttributesW(wide_path(file).c_str());
    const bool closed = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0;
    return closed ? why(ERROR_ACCESS_DENIED) : std::error_code();
}

// A folder's attribute doesn't apply to what it holds; writing will tell.
std::error_code folder_protection(const std::string&) { return {}; }

namespace {

std::error_code move_over(const std::wstring& from, const std::wstring& to) {
    return ::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0
               ? std::error_code()
               : why();
}

bool is_in_use(const std::error_code& error) {
    return error.value() == ERROR_ACCESS_DENIED || error.value() == ERROR_SHARING_VIOLATION ||
           error.value() == ERROR_USER_MAPPED_FILE;
}

// A mapped file can't be replaced, but renamed: it goes out of the way, and is deleted as soon as that is possible.
// Until then its name is taken.
std::error_code move_past(const std::wstring& from, const std::wstring& to) {
    static std::atomic<unsigned> count = 0;
    const std::wstring aside =
        to + L".before-" + std::to_wstring(::GetCurrentProcessId()) + L"-" + std::to_wstring(count++);
    ::DeleteFileW(aside.c_str());
    if (const std::error_code failed = move_over(to, aside)) return failed;
    if (const std::error_code failed = move_over(from, to)) {
        static_cast<void>(move_over(aside, to));
        return failed;
    }
    if (::DeleteFileW(aside.c_str()) == 0) ::MoveFileExW(aside.c_str(), nullptr, MOVEFILE_DELAY_UNTIL_REBOOT);
    return {};
}

}  // namespace

std::error_code replace_file(const std::string& from, const std::string& to) {
    const std::wstring wide_from = wide_path(from), wide_to = wide_path(to);
    constexpr int kTries = 20;
    std::error_code failed = move_over(wide_from, wide_to);
    if (is_in_use(failed)) failed = move_past(wide_from, wide_to);
    // A virus scanner or an indexer may hold the old file for a moment.
    for (int i = 0; i < kTries && is_in_use(failed); ++i) {
        ::Sleep(25);
        failed = move_over(wide_from, wide_to);
    }
    return failed;
}

// NTFS writes names to its journal by itself, and MOVEFILE_WRITE_THROUGH waited for it.
std::error_code flush_folder(const std::string&) { return {}; }

bool exchange(const std::string&, const std::string&) { return false; }

// A file that no other process may open, but may delete: leftovers are deleted while they are locked.
std::optional<FileLock> FileLock::take(const std::string& path, std::error_code& failed) {
    failed.clear();
    const HANDLE file = ::CreateFileW(wide_path(path).c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE, nullptr,
                                      OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file != INVALID_HANDLE_VALUE) return FileLock(reinterpret_cast<std::intptr_t>(file));
    if (const DWORD error = ::GetLastError(); error != ERROR_SHARING_VIOLATION) failed = why(error);
    return std::nullopt;
}

FileLock::~FileLock() {
    if (handle_ >= 0) ::CloseHandle(handle_of(handle_));
}

std::size_t name_in_path(std::string_view path) { return path.find_last_of("/\\:") + 1; }

}  // namespace decoderscope::platform
