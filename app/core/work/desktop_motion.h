#pragma once

#include <string>

namespace decoderscope {

// Whether the desktop is set to show no animations, as far as its files in the folder of configurations say so: GTK's
// settings.ini (gtk-enable-animations) and KDE's kdeglobals (AnimationDurationFactor). What a desktop keeps in a
// database, as GNOME does, is not read.
[[nodiscard]] bool desktop_reduces_motion(const std::string& config_folder);

// $XDG_CONFIG_HOME, or ~/.config; empty if there is no home.
[[nodiscard]] std::string config_folder();

}  // namespace decoderscope
