#pragma once

#include "app/core/files/link.h"
#include "app/core/files/settings.h"
#include "engine/base/message.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::app {

// The arguments that the program was started with, in UTF-8. Called first: readies a console of Windows.
[[nodiscard]] std::vector<std::string> begin_program(int count, char** values);
// Called last; returns the status. Windows' program for the window has no console: what was said to one is shown in a
// box.
[[nodiscard]] int end_program(int status);
// Whether standard output is a pipe that nobody reads any more, as in `… | head -1`.
[[nodiscard]] bool nobody_reads_output();

// Puts a PNG onto the desktop's clipboard. The window library supports only text, so on Linux this runs wl-copy or
// xclip, whichever suits the desktop and is installed; the helper keeps running as long as the picture is on the
// clipboard. Returns a sentence: what was copied, or why not.
struct CopyResult {
    Sentence sentence;
    bool failed = false;
};
[[nodiscard]] CopyResult copy_png(const std::string& png);

// Shows the system's own dialog for choosing files, if it has one (PlatformInfo::picks_files). The chosen files arrive
// like files that are dropped on the window.
void pick_files();

// The folder for a file that the person is to find and pass on: the home folder, or that of a browser's downloads.
[[nodiscard]] std::string folder_for_files();

// Shows a folder in the desktop's file manager. Returns why it can't; empty if it was started.
[[nodiscard]] Sentence open_folder(const std::string& folder);

// Says a text aloud, instead of what is being said; `language` is its code: "zh_CN". Returns why it can't; empty if it
// was started.
[[nodiscard]] Sentence speak(const std::string& text, const std::string& language);

// Where copied links lead: to the page that the program runs in, or, on a desktop, to the browser version that the
// settings name.
[[nodiscard]] core::files::LinkBase link_base(const core::files::Settings& settings);

// Gets a font that has these characters, if fonts are loaded on demand. Returns what to say in the meantime, which may
// be empty; nullopt if no font is being loaded, so that only installed ones can be used.
[[nodiscard]] std::optional<Sentence> fetch_fonts(std::span<const char32_t> missing);

// The settings of the desktop, or of the browser.
[[nodiscard]] core::files::PlatformInfo surroundings();

}  // namespace decoderscope::app
