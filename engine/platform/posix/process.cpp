#include "engine/platform/process.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

namespace decoderscope::platform {

long process_number() { return ::getpid(); }

bool has_ended(long process) { return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH; }

bool errors_go_to_a_terminal() { return ::isatty(STDERR_FILENO) != 0; }

std::optional<std::uint64_t> bytes_of_the_machine() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return std::nullopt;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

// As the kernel estimates.
std::optional<std::size_t> free_bytes_of_the_machine() {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        std::size_t kilobytes = 0;
        if (words >> name >> kilobytes && name == "MemAvailable:") return kilobytes * 1024;
    }
    return std::nullopt;
}

namespace {

std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max": no limit
}

}  // namespace

std::optional<std::size_t> free_bytes_of_the_container() {
    const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
    if (!most || !used) return std::nullopt;
    return *most > *used ? *most - *used : 0;
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
