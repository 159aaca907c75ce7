#include "app/core/files/settings.h"
#include "app/core/session/paths_to_open.h"
#include "app/platform.h"
#include "engine/base/message.h"
#include "engine/platform/folders.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

extern char** environ;

namespace decoderscope::app {

// A write beyond a limit or to a pipe that nobody reads fails, instead of ending the program in the middle of a file.
// They aren't ignored: what is started from here would ignore them, too. A standard stream that was closed is taken by
// one that refuses what is written to it: otherwise the next file to be opened would be taken for it.
std::vector<std::string> begin_program(int count, char** values) {
    for (const int failed_write : {SIGXFSZ, SIGPIPE}) std::signal(failed_write, [](int) {});
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1)
            static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    return {values + 1, values + count};
}

bool nobody_reads_output() {
    pollfd output = {STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

int end_program(int status) { return status; }

namespace {

// A program that reads a picture from its input and keeps it on the clipboard, and the environment variable of its
// desktop.
struct Helper {
    const char* desktop;
    std::vector<const char*> arguments;  // the program first; no shell reads them
};

std::vector<Helper> helpers() {
    return {{"WAYLAND_DISPLAY", {"wl-copy", "--type", "image/png"}},
            {"DISPLAY", {"xclip", "-selection", "clipboard", "-t", "image/png", "-i"}}};
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// An unnamed file of these bytes, positioned at its beginning: a helper may read it at its own pace.
File file_of(const std::string& bytes) {
    File file(std::tmpfile(), std::fclose);
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() || std::fflush(file.get()) != 0)
        return {nullptr, std::fclose};
    std::rewind(file.get());
    return file;
}

// The helper forks into the background and exits. If it doesn't within two seconds, it is left running.
bool ended_well(pid_t child) {
    for (int i = 0; i < 200; ++i) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

bool hand_over(const Helper& helper, std::FILE* picture) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ::fileno(picture), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (const char* argument : helper.arguments) arguments.push_back(const_cast<char*>(argument));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const bool started = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && ended_well(child);
}

}  // namespace

CopyResult copy_png(const std::string& png) {
    std::string tried;
    for (const Helper& helper : helpers()) {
        if (!is_set(helper.desktop)) continue;
        const File picture = file_of(png);
        if (!picture) return {message("The picture was not copied: no temporary file can be written."), true};
        if (hand_over(helper, picture.get())) return {message("Copied as a picture."), false};
        tried += (tried.empty() ? "" : " or ") + std::string(helper.arguments[0]);
    }
    if (tried.empty()) return {message("The picture was not copied: there is no desktop with a clipboard here."), true};
    return {
        message(
            "The picture was not copied: this needs {programs}, which is not installed or failed. Export it as a PNG.",
            {{"programs", tried}}),
        true};
}

void pick_files() {}  // the dialog for opening lists the files itself

std::string folder_for_files() { return core::path_of("~"); }

namespace {

// Runs a script that ends at once and may leave a program running. It reads its arguments, "$0" and "$1", never as
// code.
bool run_by_shell(const char* script, const std::string& first, const std::string& second = {}) {
    const std::array<const char*, 6> arguments = {"sh", "-c", script, first.c_str(), second.c_str(), nullptr};
    pid_t child = 0;
    int status = 0;
    const bool started =
        ::posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char* const*>(arguments.data()), environ) == 0;
    return started && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

// By xdg-open.
Sentence open_folder(const std::string& folder) {
    static constexpr const char* kScript =
        "command -v xdg-open >/dev/null || exit 127; xdg-open \"$0\" >/dev/null 2>&1 &";  // not a message: a script
    if (run_by_shell(kScript, folder)) return {};
    return message("{folder}: not opened, because this needs xdg-open (package xdg-utils), which is not installed",
                   {{"folder", folder}});
}

// By speech-dispatcher.
Sentence speak(const std::string& text, const std::string& language) {
    static constexpr const char* kScript =  // not a message: a script
        "command -v spd-say >/dev/null || exit 127; { spd-say -C; spd-say -l \"$1\" -- \"$0\"; } >/dev/null 2>&1 &";
    if (run_by_shell(kScript, text, language.substr(0, 2))) return {};
    return message("Not spoken, because this needs spd-say (package speech-dispatcher), which is not installed.");
}

core::files::LinkBase link_base(const core::files::Settings& settings) {
    return {core::files::address_of(settings.browser_address), true};
}

std::optional<Sentence> fetch_fonts(std::span<const char32_t>) { return std::nullopt; }

core::files::PlatformInfo surroundings() {
    return {.reduced_motion = core::files::desktop_reduces_motion(platform::config_folder())};
}

}  // namespace decoderscope::app
