#pragma once

#include "app/views/widgets/keys_and_mouse.h"
#include "app/window/composition.h"
#include "app/window/window.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

struct GLFWwindow;

namespace decoderscope::window {

// GLFW, from its start to its end. Throws Error if there is no display.
class Glfw {
public:
    Glfw();
    ~Glfw();
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

// What GLFW's callbacks leave for the loop.
struct Inbox {
    views::InputQueue input;
    Composition composition;              // of text, by an input method
    std::map<int, views::Key> keys_down;  // by scancode, what each was pressed as
    std::vector<std::string> dropped;
    bool damaged = true;           // the picture on screen is out of date
    double pixels_per_unit = 1.0;  // GLFW uses its own units for the mouse on a scaled screen
};

struct WindowDeleter {
    void operator()(GLFWwindow* window) const;
};
using WindowHandle = std::unique_ptr<GLFWwindow, WindowDeleter>;

// A window that is not shown yet, with its OpenGL context current. Its events go to the inbox. Throws Error if there is
// no OpenGL 3.3.
[[nodiscard]] WindowHandle open_window(const WindowOptions& options, const std::string& title, Inbox& inbox);

}  // namespace decoderscope::window
