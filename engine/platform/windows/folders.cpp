#include "engine/platform/folders.h"

#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace decoderscope::platform {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPath = 32768;

fs::path folder_of_program() {
    std::wstring path(kLongestPath, L'\0');
    path.resize(::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
    return fs::path(path).parent_path();
}

std::wstring wide_variable(const wchar_t* name) {
    std::wstring value(kLongestPath, L'\0');
    value.resize(::GetEnvironmentVariableW(name, value.data(), static_cast<DWORD>(value.size())));
    return value;
}

std::string variable(const wchar_t* name) { return narrow(wide_variable(name)); }

// What the person chose for Windows: "zh-CN" is zh_CN.
std::string locale_of_person() {
    std::array<wchar_t, LOCALE_NAME_MAX_LENGTH> chosen{};
    ::GetUserDefaultLocaleName(chosen.data(), static_cast<int>(chosen.size()));
    std::string name = narrow(chosen.data());
    std::ranges::replace(name, '-', '_');
    return name;
}

}  // namespace

// In the folder that was unpacked.
fs::path share_folder() { return folder_of_program() / "share" / "decoderscope"; }

std::string home_folder() { return variable(L"USERPROFILE"); }
std::string config_folder() { return variable(L"APPDATA"); }
std::string state_folder() { return variable(L"LOCALAPPDATA"); }
std::string data_folder() { return variable(L"LOCALAPPDATA"); }

std::vector<fs::path> font_folders() {
    const fs::path local = wide_variable(L"LOCALAPPDATA"), windows = wide_variable(L"SystemRoot");
    return {folder_of_program() / "share" / "fonts",
            local / "Microsoft" / "Windows" / "Fonts",  // not a message: folders
            windows / "Fonts"};                         // not a message: a folder
}

std::string east_asian_fonts() { return "Microsoft YaHei"; }  // not a message: a name

const char* language_variable(const char* name) {
    static const std::string locale = locale_of_person();
    const char* const value = std::getenv(name);
    return value == nullptr && std::string_view(name) == "LANG" ? locale.c_str() : value;
}

}  // namespace decoderscope::platform
