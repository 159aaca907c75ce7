#include "engine/platform/folders.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace decoderscope::platform {

namespace fs = std::filesystem;

// /usr/share if the system doesn't report where the program is, as in a browser.
fs::path share_folder() {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path("/usr/share/decoderscope")
                  : program.parent_path().parent_path() / "share" / "decoderscope";
}

namespace {

// A folder that the environment names; empty if it names none, or a relative one, which is to be ignored as the XDG
// Base Directory Specification says: where it is would depend on where the program was started.
std::string folder_in(const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr || *value != '/' ? std::string() : value;
}

std::string named_or_below_home(const char* name, const char* below) {
    if (std::string named = folder_in(name); !named.empty()) return named;
    const std::string home = home_folder();
    return home.empty() ? std::string() : (fs::path(home) / below).string();
}

}  // namespace

std::string home_folder() {
    if (std::string named = folder_in("HOME"); !named.empty()) return named;
    const passwd* const person = ::getpwuid(::getuid());
    const char* const home = person == nullptr ? nullptr : person->pw_dir;
    return home == nullptr || *home != '/' ? std::string() : home;
}
std::string config_folder() { return named_or_below_home("XDG_CONFIG_HOME", ".config"); }
std::string state_folder() { return named_or_below_home("XDG_STATE_HOME", ".local/state"); }
std::string data_folder() { return named_or_below_home("XDG_DATA_HOME", ".local/share"); }

std::vector<fs::path> font_folders() {
    std::vector<fs::path> folders{"/usr/local/share/fonts", "/usr/share/fonts"};
    if (const std::string home = home_folder(); !home.empty()) {
        folders.insert(folders.begin(), fs::path(home) / ".fonts");
        folders.insert(folders.begin(), fs::path(home) / ".local/share/fonts");
    }
    // Those that came with the program, where it lies in a folder of its own.
    if (fs::path own = share_folder().parent_path() / "fonts"; std::ranges::find(folders, own) == folders.end())
        folders.push_back(std::move(own));
    return folders;
}

std::string east_asian_fonts() { return "fonts-noto-cjk"; }

const char* language_variable(const char* name) { return std::getenv(name); }

}  // namespace decoderscope::platform
