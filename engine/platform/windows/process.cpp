#include "engine/platform/process.h"

#include <windows.h>

namespace decoderscope::platform {

long process_number() { return static_cast<long>(::GetCurrentProcessId()); }

std::unique_ptr<Program> Program::started(const std::vector<std::string>&) { return nullptr; }

bool has_ended(long process) {
    const HANDLE opened = ::OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
    if (opened == nullptr) return ::GetLastError() == ERROR_INVALID_PARAMETER;  // there is no such process
    const bool runs = ::WaitForSingleObject(opened, 0) == WAIT_TIMEOUT;
    ::CloseHandle(opened);
    return !runs;
}

std::string system_name() { return "Windows"; }  // not a message: a name

bool errors_go_to_a_terminal() {
    DWORD mode = 0;
    return ::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode) != 0;
}

namespace {

std::optional<MEMORYSTATUSEX> memory() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return ::GlobalMemoryStatusEx(&status) != 0 ? std::optional(status) : std::nullopt;
}

}  // namespace

std::optional<ContainerMemory> memory_of_the_container(const std::filesystem::path&) { return std::nullopt; }

std::optional<std::uint64_t> bytes_of_memory() {
    const auto status = memory();
    return status ? std::optional<std::uint64_t>(status->ullTotalPhys) : std::nullopt;
}

// What Windows can give without writing to its page file.
std::optional<std::uint64_t> free_bytes_of_memory() {
    const auto status = memory();
    return status ? std::optional<std::uint64_t>(status->ullAvailPhys) : std::nullopt;
}

PythonCommand python_command() { return {"python -c ", '"', '\''}; }

std::optional<std::tm> local_time(std::time_t time) {
    std::tm local{};
    return ::localtime_s(&local, &time) == 0 ? std::optional(local) : std::nullopt;
}

std::optional<std::tm> utc_time(std::time_t time) {
    std::tm utc{};
    return ::gmtime_s(&utc, &time) == 0 ? std::optional(utc) : std::nullopt;
}

}  // namespace decoderscope::platform
