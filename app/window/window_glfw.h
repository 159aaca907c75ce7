#pragma once

#include "app/views/widgets/input.h"
#include "app/window/window.h"

#include <memory>
#include <string>
#include <vector>

struct GLFWwindow;

namespace decoderscope {

// GLFW, from its start to its end. Throws Error where there is no display.
class Glfw {
public:
    Glfw();
    ~Glfw();
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

// What GLFW's callbacks leave for the loop.
struct Inbox {
    InputQueue input;
    std::vector<std::string> dropped;
    bool damaged = true;           // the picture on screen is not what it should be
    double pixels_per_unit = 1.0;  // GLFW counts the mouse in units of its own where the screen is scaled
};

struct WindowDeleter {
    void operator()(GLFWwindow* window) const;
};
using WindowHandle = std::unique_ptr<GLFWwindow, WindowDeleter>;

// A window that is not shown yet, its OpenGL context current, and what happens to it left in the inbox. Throws Error
// where there is no OpenGL 3.3.
[[nodiscard]] WindowHandle open_window(const WindowOptions& options, const std::string& title, Inbox& inbox);

}  // namespace decoderscope
