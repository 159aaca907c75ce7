#pragma once

#include "app/views/widgets/keys_and_mouse.h"

namespace decoderscope::window {

// Tells which keys belong to an input method while it composes text. GLFW reports every key, also those that the input
// method takes, but only text that is done arrives as characters. So a letter that no character follows is being
// composed, and then Enter, Escape, Backspace and the arrows choose and correct there, not in the window.
class Composition {
public:
    // A key was pressed. Returns whether it belongs to the input method.
    [[nodiscard]] bool takes(views::Key key, views::Mods mods);
    // A character arrived: what was composed is done.
    void done() { letters_ = 0; }

private:
    int letters_ = 0;  // pressed since the last character
};

}  // namespace decoderscope::window
