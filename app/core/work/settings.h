#pragma once

#include "app/core/picture/colormap.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope {

// The user's settings: kept from one start to the next.
struct Settings {
    std::optional<bool> dark;                            // nothing: as the system is set
    float text_scale = 1.0F;                             // times the monitor's scale; 0.6 to 3
    ColorMap sequential = ColorMap::viridis;             // for weights and probabilities
    float map_width = 224.0F, inspector_width = 336.0F;  // at a scale of 1
    bool map_folded = false, inspector_folded = false;
    std::optional<bool> reduced_motion;  // nothing: as the desktop is set
    std::string language;                // its code, "zh_CN"; empty: the system's
    std::string browser_address;         // of the browser version, for links; empty: not known
    bool hint_done = false;              // the hint that says what to press has been followed
    bool large_pointer = false;          // the cell that is pointed at is marked for a lecture hall
    bool introduction_closed = false;    // the strip with what to try was closed
    std::vector<std::string> recent;     // paths of the opened models, the latest first

    bool operator==(const Settings&) const = default;
};

// The list with this path in front; its length is limited.
[[nodiscard]] std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& path);

// Where they are kept: $XDG_CONFIG_HOME/decoderscope/settings.json, or ~/.config/…; empty if there is no home.
[[nodiscard]] std::string settings_path();

// Reads settings. Anything missing or invalid gets its default: settings must never prevent a start.
[[nodiscard]] Settings load_settings(const std::string& path);

// Writes settings, creating the folder. Throws Error naming the file if it can't be written.
void save_settings(const std::string& path, const Settings& settings);

}  // namespace decoderscope
