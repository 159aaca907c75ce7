#pragma once

#include "app/window/frontend.h"

#include <memory>

namespace decoderscope::window {

// Waking the window (wake_window, app/window/window.h): any thread may ask for a frame, even while the window is
// closing.
// Sets whether there is a window that can be woken.
void accept_wakes(bool accept);

// Whether a frame was requested since the last call.
[[nodiscard]] bool take_wake();

struct WindowOptions {
    int width = 1280, height = 800;  // at a scale of 1; as views::opening_size() makes it fit the monitor
};

// Opens a window, shows the frontend in it until the user, the frontend or a signal (SIGINT, SIGTERM, SIGHUP) closes
// it, and returns the program's exit status. Draws only when something changes; waits in between. Throws Error if there
// is no display, or none with OpenGL 3.3. In a browser the window is the page: the call returns at once, and the
// frontend lives as long as the page.
int run_window(std::unique_ptr<Frontend> frontend, const WindowOptions& options = {});

// A window that shows one frontend after the other; not in a browser. It is open from the first one on.
class DesktopWindow {
public:
    explicit DesktopWindow(const WindowOptions& options = {});
    ~DesktopWindow();
    DesktopWindow(const DesktopWindow&) = delete;
    DesktopWindow& operator=(const DesktopWindow&) = delete;

    // Shows the frontend until it or the user wants to close, or a signal ends the program. Throws the same Errors.
    void show(Frontend& frontend);
    // Whether a signal has ended the program.
    [[nodiscard]] bool told_to_stop() const;

private:
    struct Parts;
    WindowOptions options_;
    std::unique_ptr<Parts> parts_;
};

// Makes the window draw a frame soon; from any thread, with or without a window.
void wake_window();

}  // namespace decoderscope::window
