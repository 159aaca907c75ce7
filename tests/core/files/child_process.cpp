#include "tests/core/files/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace decoderscope::testing {

namespace {

constexpr const char* kFolder = "DECODERSCOPE_TEST_FOLDER";
constexpr const char* kReports = "DECODERSCOPE_TEST_REPORTS";

}  // namespace

ChildProcess::ChildProcess(const std::string& test_case, const std::string& folder) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    std::vector<std::string> variables = {std::string(kFolder) + "=" + folder,
                                          std::string(kReports) + "=" + std::to_string(ends[1])};
    for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, STDOUT_FILENO);
        ::execle("/proc/self/exe", "test", test_case.c_str(), nullptr, environment.data());
        ::_exit(1);
    }
    ::close(ends[1]);
    reports_ = ends[0];
    if (process_ < 0) throw std::runtime_error("no process");
}

ChildProcess::~ChildProcess() {
    kill();
    ::close(static_cast<int>(reports_));
}

std::optional<std::uint64_t> ChildProcess::next_report() {
    std::uint64_t number = 0;
    if (::read(static_cast<int>(reports_), &number, sizeof number) != sizeof number) return std::nullopt;
    return number;
}

// SIGKILL can't be caught.
void ChildProcess::kill() {
    if (process_ <= 0) return;
    const auto id = static_cast<pid_t>(std::exchange(process_, -1));
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
}

std::string folder_of_test() { return std::getenv(kFolder); }

void report(std::uint64_t number) {
    const int reports = std::atoi(std::getenv(kReports));
    if (::write(reports, &number, sizeof number) != sizeof number) ::_exit(1);
}

}  // namespace decoderscope::testing
