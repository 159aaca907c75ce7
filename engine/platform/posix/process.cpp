#include "engine/platform/process.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace decoderscope::platform {

bool has_ended(long process) { return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH; }

std::string system_name() {
    utsname name{};
    if (::uname(&name) != 0) return "POSIX";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

bool errors_go_to_a_terminal() { return ::isatty(STDERR_FILENO) != 0; }

namespace {

// The number in a file of a single one; nothing for a word, such as "max".
std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

// The number behind a name in a file with one per line: "inactive_file 4096", "MemAvailable: 1024 kB".
std::optional<std::uint64_t> number_of(const std::filesystem::path& path, std::string_view name) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string first;
        std::uint64_t number = 0;
        if (words >> first >> number && first == name) return number;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> bytes_of_the_machine() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return std::nullopt;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

std::optional<ContainerMemory> memory_of_the_container(const std::filesystem::path& folder) {
    const auto in = [](const std::filesystem::path& group, const char* most_in,
                       const char* used_in) -> std::optional<ContainerMemory> {
        const auto most = number_in(group / most_in), used = number_in(group / used_in);
        if (!most || !used) return std::nullopt;
        // Files that were read count as used until something else needs the room.
        const std::uint64_t files = number_of(group / "memory.stat", "inactive_file").value_or(0);
        return ContainerMemory{*most, *used - std::min(*used, files)};
    };
    if (const auto second = in(folder, "memory.max", "memory.current")) return second;
    return in(folder / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
}

// Version 1 of control groups writes a limit beyond any machine's memory where there is none.
std::optional<std::uint64_t> bytes_of_memory() {
    const auto container = memory_of_the_container();
    return lesser(bytes_of_the_machine(), container ? std::optional(container->most) : std::nullopt);
}

std::optional<std::uint64_t> free_bytes_of_memory() {
    auto free = number_of("/proc/meminfo", "MemAvailable:");
    if (free) *free *= 1024;
    const auto container = memory_of_the_container();
    return lesser(
        free, container ? std::optional(container->most - std::min(container->most, container->used)) : std::nullopt);
}

PythonCommand python_command() { return {"python3 -c ", '\'', '"'}; }

std::optional<std::tm> local_time(std::time_t time) {
    std::tm local{};
    return ::localtime_r(&time, &local) != nullptr ? std::optional(local) : std::nullopt;
}

std::optional<std::tm> utc_time(std::time_t time) {
    std::tm utc{};
    return ::gmtime_r(&time, &utc) != nullptr ? std::optional(utc) : std::nullopt;
}

}  // namespace decoderscope::platform
