#pragma once

#include "app/views/widgets/input.h"

namespace decoderscope {

// The key behind GLFW's number and scancode, as the keyboard's layout prints it; Key::none for one that we don't know.
[[nodiscard]] Key key_of_glfw(int key, int scancode);

// The modifiers as they are after a key event; GLFW tells a modifier's own press with what was held before it.
[[nodiscard]] Mods mods_of_glfw(int mods, int key, int action);

}  // namespace decoderscope
