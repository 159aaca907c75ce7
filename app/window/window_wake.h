#pragma once

// Waking the window (wake_window, app/window.h): any thread may ask for a frame, also when the window is just going.
namespace decoderscope {

// Whether there is a window that can be woken.
void accept_wakes(bool accept);

// Whether somebody asked for a frame since the last look.
[[nodiscard]] bool take_wake();

}  // namespace decoderscope
