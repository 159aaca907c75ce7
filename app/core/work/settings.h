#pragma once

#include "app/core/picture/colormap.h"

#include <string>
#include <vector>

namespace decoderscope {

// What the person chose for good: kept from one start to the next.
struct Settings {
    bool dark = true;
    float text_scale = 1.0F;                             // on top of what the monitor asks for; 0.6 to 3
    ColorMap sequential = ColorMap::viridis;             // for weights and probabilities
    float map_width = 224.0F, inspector_width = 336.0F;  // at a scale of 1
    bool hint_done = false;                              // the line that says what to press has been followed
    std::vector<std::string> recent;                     // paths of the models that were opened, the last one first

    bool operator==(const Settings&) const = default;
};

// The list with this path in front; it never gets long.
[[nodiscard]] std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& path);

// Where they are kept: $XDG_CONFIG_HOME/decoderscope/settings.json, or ~/.config/…; empty where there is no home.
[[nodiscard]] std::string settings_path();

// Reads settings. A missing file, or one that makes no sense, gives the defaults for what it lacks: settings are never
// a reason not to start.
[[nodiscard]] Settings load_settings(const std::string& path);

// Writes settings, making the folder. Throws Error naming the file where it can't be written.
void save_settings(const std::string& path, const Settings& settings);

}  // namespace decoderscope
