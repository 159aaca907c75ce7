#include "engine/platform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace decoderscope::platform {

namespace {

class PosixProgram : public Program {
public:
    PosixProgram(pid_t process, int errors) : process_(process), errors_(errors) {}
    ~PosixProgram() override {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            static_cast<void>(::waitpid(process_, nullptr, 0));
        }
        ::close(errors_);
    }
    PosixProgram(const PosixProgram&) = delete;
    PosixProgram& operator=(const PosixProgram&) = delete;

    std::optional<Ended> wait() override {
        constexpr int kMilliseconds = 20;
        constexpr std::size_t kKept = 8192;
        pollfd ready{errors_, POLLIN, 0};
        if (::poll(&ready, 1, kMilliseconds) <= 0) return std::nullopt;
        std::array<char, 4096> part{};
        const ssize_t count = ::read(errors_, part.data(), part.size());
        if (count < 0 && errno == EINTR) return std::nullopt;
        if (count > 0) {
            said_.append(part.data(), static_cast<std::size_t>(count));
            if (said_.size() > 2 * kKept) said_.erase(0, said_.size() - kKept);
            return std::nullopt;
        }
        int status = 0;
        const bool ended = ::waitpid(process_, &status, 0) == process_;
        process_ = 0;
        return Ended{ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1, said_};
    }

private:
    pid_t process_;
    int errors_;  // what it writes there
    std::string said_;
};

}  // namespace

std::unique_ptr<Program> Program::started(const std::vector<std::string>& words) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return nullptr;
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<std::string> kept = words;
    std::vector<char*> arguments;
    for (std::string& word : kept) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = 0;
    const bool started = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (started) return std::make_unique<PosixProgram>(process, ends[0]);
    ::close(ends[0]);
    return nullptr;
}

}  // namespace decoderscope::platform
