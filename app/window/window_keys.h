#pragma once

#include "app/views/widgets/input.h"

namespace decoderscope {

// The key for GLFW's number and scancode, as labelled in the keyboard's layout; Key::none for an unknown one.
[[nodiscard]] Key key_of_glfw(int key, int scancode);

// The modifiers after a key event: for a modifier's own press, GLFW reports the state before it.
[[nodiscard]] Mods mods_of_glfw(int mods, int key, int action);

}  // namespace decoderscope
