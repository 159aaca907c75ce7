#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>

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

// Whether a person sees in a terminal what is written to standard error.
[[nodiscard]] bool errors_go_to_a_terminal();

// The bytes of memory that the machine has; nothing if that isn't known.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_the_machine();
// The bytes of memory that the machine can still give without swapping, and what is left of a container's limit;
// nothing if that isn't known.
[[nodiscard]] std::optional<std::size_t> free_bytes_of_the_machine();
[[nodiscard]] std::optional<std::size_t> free_bytes_of_the_container();

// A time on the clock of this place, and in UTC; nothing if it is out of the calendar's range.
[[nodiscard]] std::optional<std::tm> local_time(std::time_t time);
[[nodiscard]] std::optional<std::tm> utc_time(std::time_t time);

}  // namespace decoderscope::platform
