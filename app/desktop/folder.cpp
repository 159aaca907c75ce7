#include "app/folder.h"

#include <spawn.h>
#include <sys/wait.h>

#include <array>

extern char** environ;

namespace decoderscope {

Sentence open_folder(const std::string& folder) {
    // The shell ends at once and leaves the file manager behind; it reads the folder as an argument, never as code.
    static constexpr const char* kScript =
        "command -v xdg-open >/dev/null || exit 127; xdg-open \"$0\" >/dev/null 2>&1 &";  // not a message: a script
    const std::array<const char*, 5> arguments = {"sh", "-c", kScript, folder.c_str(), nullptr};
    pid_t child = 0;
    int status = 0;
    const bool started =
        ::posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char* const*>(arguments.data()), environ) == 0;
    if (started && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return message("{folder}: not opened, as that takes xdg-open (package xdg-utils), which is not installed",
                   {{"folder", folder}});
}

}  // namespace decoderscope
