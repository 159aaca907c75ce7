// Windows doesn't truncate a file while it is mapped. But a drive can be unplugged, or a network fail.
#include "engine/base/error.h"
#include "engine/files/mapped_file.h"
#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace decoderscope {

namespace {

[[noreturn]] void fail_to_read(const std::string& path, DWORD error) {
    throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", platform::windows_reason(error)}});
}
[[noreturn]] void fail_to_read(const std::string& path) { fail_to_read(path, ::GetLastError()); }

std::shared_ptr<const int> open_file(const std::string& path) {
    const std::wstring name = platform::wide_path(path);
    const DWORD there = ::GetFileAttributesW(name.c_str());
    if (there == INVALID_FILE_ATTRIBUTES) fail_to_read(path);
    if ((there & FILE_ATTRIBUTE_DIRECTORY) != 0)
        throw Error("{path}: expected a safetensors file, found something that is not a file", {{"path", path}});
    // Others may write to it, delete it and rename it meanwhile, as on other systems.
    const HANDLE handle =
        ::CreateFileW(name.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                      OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (handle == INVALID_HANDLE_VALUE) fail_to_read(path);
    const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_RDONLY | _O_BINARY);
    return {new int(file), [](const int* descriptor) {
                ::_close(*descriptor);
                delete descriptor;
            }};
}

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)); }

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path), descriptor_(open_file(path)) {
    LARGE_INTEGER size{};
    if (::GetFileSizeEx(handle_of(*descriptor_), &size) == 0) fail_to_read(path);
    size_ = static_cast<std::size_t>(size.QuadPart);
    if (size_ == 0) return;  // nothing to map
    const HANDLE mapping = ::CreateFileMappingW(handle_of(*descriptor_), nullptr, PAGE_WRITECOPY, 0, 0, nullptr);
    if (mapping == nullptr) fail_to_read(path);
    void* memory = ::MapViewOfFile(mapping, FILE_MAP_COPY, 0, 0, 0);
    const DWORD error = ::GetLastError();
    ::CloseHandle(mapping);  // the view keeps it
    if (memory == nullptr) fail_to_read(path, error);
    auto* begin = static_cast<char*>(memory);
    bytes_ = {begin, [watch = guard_against_truncation(path, {begin, size_})](char* bytes) mutable {
                  watch.reset();
                  ::UnmapViewOfFile(bytes);
              }};
}

void MappedFile::check() const {
    LARGE_INTEGER size{};
    const bool known = ::GetFileSizeEx(handle_of(*descriptor_), &size) != 0;
    if (known && static_cast<std::size_t>(size.QuadPart) >= size_) return;
    throw Error("{path}: was truncated after it was opened, expected it to stay {size} bytes long",
                {{"path", path_}, {"size", size_}});
}

namespace {

struct Watched {
    std::mutex mutex;
    std::map<std::uintptr_t, std::pair<std::uintptr_t, std::string>> mappings;  // by begin: end and path
};

Watched& watched() {
    static auto* const the_one = new Watched;  // the handler may come after everything else
    return *the_one;
}

void say(std::string_view text) {
    DWORD written = 0;
    ::WriteFile(::GetStdHandle(STD_ERROR_HANDLE), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

LONG CALLBACK end_with_a_sentence(EXCEPTION_POINTERS* what) {
    const EXCEPTION_RECORD& record = *what->ExceptionRecord;
    if (record.ExceptionCode != static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR)) return EXCEPTION_CONTINUE_SEARCH;
    const std::uintptr_t address = record.ExceptionInformation[1];
    const std::lock_guard lock(watched().mutex);
    for (const auto& [begin, rest] : watched().mappings) {
        if (address < begin || address >= rest.first) continue;
        // In a handler:
        say("decoderscope: " + rest.second +
            ": can no longer be read, expected it to stay as it was\n");  // not a message: English
        ::TerminateProcess(::GetCurrentProcess(), 1);
    }
    return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

std::shared_ptr<const void> guard_against_truncation(const std::string& path, std::span<const char> mapping) {
    static void* const handler = ::AddVectoredExceptionHandler(1, end_with_a_sentence);
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    const std::lock_guard lock(watched().mutex);
    watched().mappings[begin] = {begin + mapping.size(), path};
    return {handler, [begin](const void*) {
                const std::lock_guard lock_again(watched().mutex);
                watched().mappings.erase(begin);
            }};
}

}  // namespace decoderscope
