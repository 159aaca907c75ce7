#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The process, the machine and the time.
namespace decoderscope::platform {

// This process's number, and whether another process has ended for certain.
[[nodiscard]] long process_number();
[[nodiscard]] bool has_ended(long process);

// How a line of Python is given to this system's shell: what it begins with, the quotes around it, and those left for
// strings within it. Windows' shells both take double quotes, which no
// path there has, around single ones.
struct PythonCommand {
    const char* begins;
    char quote, quote_within;
};
[[nodiscard]] PythonCommand python_command();

// A program that runs beside this one, without input. It is ended if it still runs when this goes.
class Program {
public:
    // Its status, and the end of what it wrote to standard error.
    struct Ended {
        int status = 0;
        std::string errors;
    };
    // Starts a program of the first word's name, which is looked for as a shell does; nothing if that can't be done.
    [[nodiscard]] static std::unique_ptr<Program> started(const std::vector<std::string>& words);
    virtual ~Program() = default;
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Waits a moment; nothing while it runs.
    [[nodiscard]] virtual std::optional<Ended> wait() = 0;

protected:
    Program() = default;
};

// The system's name, its version and the processor's kind: "Linux 6.1.0 x86_64".
[[nodiscard]] std::string system_name();

// Whether a person sees in a terminal what is written to standard error.
[[nodiscard]] bool errors_go_to_a_terminal();

// A container's limit of memory and what it has in use, in bytes; nothing if there is no limit. `folder` is where the
// system describes control groups, of version 2 or 1.
struct ContainerMemory {
    std::uint64_t most = 0, used = 0;
};
[[nodiscard]] std::optional<ContainerMemory> memory_of_the_container(
    const std::filesystem::path& folder = "/sys/fs/cgroup");

// The bytes of memory that there are for this process: the machine's, or a container's limit if that is less; nothing
// if neither is known.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_memory();
// What of them can still be used without swapping.
[[nodiscard]] std::optional<std::uint64_t> free_bytes_of_memory();

// A time on the clock of this place, and in UTC; nothing if it is out of the calendar's range.
[[nodiscard]] std::optional<std::tm> local_time(std::time_t time);
[[nodiscard]] std::optional<std::tm> utc_time(std::time_t time);

}  // namespace decoderscope::platform
