#pragma once

// Waking the window (wake_window, app/window/window.h): any thread may ask for a frame, even while the window is
// closing.
namespace decoderscope::window {

// Sets whether there is a window that can be woken.
void accept_wakes(bool accept);

// Whether a frame was requested since the last call.
[[nodiscard]] bool take_wake();

}  // namespace decoderscope::window
