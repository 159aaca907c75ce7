#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Where the system keeps a program's files, what it makes, and the person's settings. Empty if there is none.
namespace decoderscope::platform {

// What is installed with the program: models, lessons, messages. Beside the bin/ that it runs from, or on Windows
// beside the program itself.
[[nodiscard]] std::filesystem::path share_folder();

// The person's home folder: $HOME, or what the system has for this user; on Windows %USERPROFILE%. A variable that
// names no absolute path counts as not set, here and below.
[[nodiscard]] std::string home_folder();
// For settings: $XDG_CONFIG_HOME, or ~/.config; on Windows %APPDATA%.
[[nodiscard]] std::string config_folder();
// For what survives a crash: $XDG_STATE_HOME, or ~/.local/state; on Windows %LOCALAPPDATA%.
[[nodiscard]] std::string state_folder();
// For what was made: $XDG_DATA_HOME, or ~/.local/share; on Windows %LOCALAPPDATA%.
[[nodiscard]] std::string data_folder();

// Where font files are, the first to be searched first.
[[nodiscard]] std::vector<std::filesystem::path> font_folders();

// What to install for Chinese, Japanese and Korean characters: a package of Debian's; on Windows a font.
[[nodiscard]] std::string east_asian_fonts();

// A variable of the environment that names the person's language, such as LANG; nullptr if it isn't set. If a system
// keeps its language elsewhere, LANG is that one.
[[nodiscard]] const char* language_variable(const char* name);

}  // namespace decoderscope::platform
