#pragma once

#include "app/core/figure/colormap.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::core::files {

// What the system around the window is set to, and what it has. A setting of the program's own comes first.
struct PlatformInfo {
    bool dark = true;
    bool reduced_motion = false;
    bool picks_files = false;   // it has a dialog of its own for choosing files
    bool shows_folders = true;  // it has a file manager; otherwise what is written is downloaded
};

// Whether the desktop is set to show no animations, as far as its files in the folder of configurations say so: GTK's
// settings.ini (gtk-enable-animations) and KDE's kdeglobals (AnimationDurationFactor). What a desktop keeps in a
// database, as GNOME does, is not read.
[[nodiscard]] bool desktop_reduces_motion(const std::string& config_folder);

// The user's settings: kept from one start to the next.
struct Settings {
    std::optional<bool> dark;                 // nothing: as the system is set
    float text_scale = 1.0F;                  // times the monitor's scale; 0.6 to 3
    ColorMap sequential = ColorMap::viridis;  // for weights and probabilities
    float inspector_width = 336.0F;           // at a scale of 1
    bool strip_folded = false, inspector_folded = false;
    std::optional<bool> reduced_motion;  // nothing: as the desktop is set
    std::string language;                // its code, "zh_CN"; empty: the system's
    std::string browser_address;         // of the browser version, for links; empty: not known
    bool large_pointer = false;          // the cell that is pointed at is marked for a lecture hall
    bool introduction_closed = false;    // what a newcomer reads was closed
    std::vector<std::string> recent;     // paths of the opened models, the latest first

    bool operator==(const Settings&) const = default;
};

// The list with this path in front; its length is limited.
[[nodiscard]] std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& path);

// Where they are kept: decoderscope/settings.json in platform::config_folder(); empty if there is none.
[[nodiscard]] std::string settings_path();

// Reads settings. Anything missing or invalid gets its default. Throws Error naming the file if it can't be read at
// all.
[[nodiscard]] Settings read_settings(const std::string& path);
// As above, but such a file gives the defaults.
[[nodiscard]] Settings load_settings(const std::string& path);
// Renames such a file, as it would be replaced by the next save, and returns what there is to say about it. `why` it
// can't be read is a part of that. Throws Error if it can't be renamed.
[[nodiscard]] Sentence set_aside(const std::string& path, const Sentence& why);

// Writes settings, creating the folder. Throws Error naming the file if it can't be written.
void save_settings(const std::string& path, const Settings& settings);

}  // namespace decoderscope::core::files
