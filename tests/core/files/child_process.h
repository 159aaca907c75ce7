#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace decoderscope::testing {

// This program as another process, which runs one of its test cases and reports numbers until it is killed.
class ChildProcess {
public:
    ChildProcess(const std::string& test_case, const std::string& folder);
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess();

    // Waits for the next report; nothing if there will be none.
    std::optional<std::uint64_t> next_report();
    // Ends it in a way that it can't notice, and waits until it has ended.
    void kill();

private:
    std::intptr_t process_, reports_;  // numbers, or Windows' handles
};

// In that process: the folder that it was started with, and its report.
[[nodiscard]] std::string folder_of_test();
void report(std::uint64_t number);

}  // namespace decoderscope::testing
