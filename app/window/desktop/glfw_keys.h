#pragma once

#include "app/views/widgets/keys_and_mouse.h"

#include <string_view>

namespace decoderscope::window {

// The key for GLFW's number and scancode, as labelled in the keyboard's layout; Key::none for an unknown one.
[[nodiscard]] views::Key key_of_glfw(int key, int scancode, bool ctrl = false);
// As above, from what the layout prints on it without Shift. In the row of digits a key is its digit, and only with
// Ctrl the plus or minus that is printed on it.
[[nodiscard]] views::Key key_meant(int key, std::string_view printed, bool ctrl);

// The modifiers after a key event: for a modifier's own press, GLFW reports the state before it.
[[nodiscard]] views::Mods mods_of_glfw(int mods, int key, int action);

}  // namespace decoderscope::window
