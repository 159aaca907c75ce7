#include "app/window/desktop/window_glfw.h"

#include "app/views/frame/window_layout.h"
#include "app/window/desktop/glfw_keys.h"
#include "app/window/desktop/window_no_opengl.h"
#include "app/window/window.h"
#include "engine/base/error.h"

#include <GLFW/glfw3.h>

#include <cmath>
#include <cstdlib>
#include <utility>

namespace decoderscope::window {

namespace {

Sentence glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text == nullptr ? Sentence(message("no reason given")) : Sentence::verbatim(text);
}

Inbox& inbox_of(GLFWwindow* window) { return *static_cast<Inbox*>(glfwGetWindowUserPointer(window)); }

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    if (action == GLFW_REPEAT) return;  // ImGui does its own repeat
    Inbox& inbox = inbox_of(window);
    const views::Mods held = mods_of_glfw(mods, key, action);
    const auto pressed = inbox.keys_down.find(scancode);
    // A key is released as what it was pressed as, even if Ctrl, which changes its meaning, was released before.
    const bool known = action == GLFW_RELEASE && pressed != inbox.keys_down.end();
    const views::Key meant = known ? pressed->second : key_of_glfw(key, scancode, held.ctrl);
    if (known) inbox.keys_down.erase(pressed);
    if (action == GLFW_PRESS && inbox.composition.takes(meant, held)) return;
    if (action == GLFW_PRESS) inbox.keys_down.insert_or_assign(scancode, meant);
    inbox.input.push(views::KeyEvent{meant, action == GLFW_PRESS, held});
}

void on_character(GLFWwindow* window, unsigned code) {
    inbox_of(window).composition.done();
    inbox_of(window).input.push(views::Character{static_cast<char32_t>(code)});
}

void on_button(GLFWwindow* window, int button, int action, int mods) {
    if (button > GLFW_MOUSE_BUTTON_MIDDLE) return;
    inbox_of(window).composition.done();
    inbox_of(window).input.push(views::MouseButton{static_cast<views::Button>(button), action == GLFW_PRESS,
                                                   mods_of_glfw(mods, GLFW_KEY_UNKNOWN, action)});
}

void on_move(GLFWwindow* window, double x, double y) {
    Inbox& inbox = inbox_of(window);
    inbox.input.push(
        views::MouseMove{static_cast<float>(x * inbox.pixels_per_unit), static_cast<float>(y * inbox.pixels_per_unit)});
}

void on_enter(GLFWwindow* window, int entered) {
    if (entered == GLFW_FALSE) inbox_of(window).input.push(views::MouseLeave{});
}

void on_wheel(GLFWwindow* window, double x, double y) {
    inbox_of(window).input.push(views::Wheel{static_cast<float>(x), static_cast<float>(y)});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
    auto& dropped = inbox_of(window).dropped;
    dropped.insert(dropped.end(), paths, paths + count);
}

void damage(GLFWwindow* window) { inbox_of(window).damaged = true; }

// The window gets no smaller than what the panels need at the smallest text size, on any monitor.
void limit_size(GLFWwindow* window) {
    float scale = 1.0F;
    float ignored = 1.0F;
    int pixels = 0;
    int units = 0;
    int ignored_height = 0;
    glfwGetWindowContentScale(window, &scale, &ignored);
    glfwGetFramebufferSize(window, &pixels, &ignored_height);
    glfwGetWindowSize(window, &units, &ignored_height);
    const float per_pixel = pixels > 0 ? static_cast<float>(units) / static_cast<float>(pixels) : 1.0F;
    const auto least = [&](float length) { return static_cast<int>(std::ceil(length * scale * per_pixel)); };
    glfwSetWindowSizeLimits(window, least(views::kLeastWindow.x), least(views::kLeastWindow.y), GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
}

void install_callbacks(GLFWwindow* window) {
    glfwSetKeyCallback(window, on_key);
    glfwSetCharCallback(window, on_character);
    glfwSetMouseButtonCallback(window, on_button);
    glfwSetCursorPosCallback(window, on_move);
    glfwSetCursorEnterCallback(window, on_enter);
    glfwSetScrollCallback(window, on_wheel);
    glfwSetDropCallback(window, on_drop);
    glfwSetWindowRefreshCallback(window, damage);
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { damage(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) {
        limit_size(w);
        damage(w);
    });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) {
        inbox_of(w).composition.done();
        damage(w);
    });
    glfwSetWindowIconifyCallback(window, [](GLFWwindow* w, int) { damage(w); });
}

// The requested size on this monitor's scale, as its work area allows.
std::pair<int, int> size_on_monitor(const WindowOptions& options) {
    float scale = 1.0F;
    float ignored = 1.0F;
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
        glfwGetMonitorContentScale(monitor, &scale, &ignored);
        glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    }
    const ImVec2 wanted = {static_cast<float>(options.width) * scale, static_cast<float>(options.height) * scale};
    const ImVec2 size = views::opening_size(wanted, {static_cast<float>(width), static_cast<float>(height)});
    return {static_cast<int>(size.x), static_cast<int>(size.y)};
}

}  // namespace

Glfw::Glfw() {
    const char* const display = std::getenv("DISPLAY");
#ifdef GLFW_PLATFORM  // GLFW 3.4 calls libwayland even without Wayland, and libwayland then prints an error
    if (std::getenv("WAYLAND_DISPLAY") == nullptr && std::getenv("WAYLAND_SOCKET") == nullptr)
        glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
    if (glfwInit() != GLFW_TRUE) {
        throw Error(
            "cannot open a window: there is no display to open it on (DISPLAY is {display}; {reason}); set DISPLAY, or "
            "use "
            "the commands that need no window: decoderscope --help",
            {{"display", display != nullptr ? Sentence::verbatim(display) : message("not set")},
             {"reason", glfw_error()}});
    }
    accept_wakes(true);
}

Glfw::~Glfw() {
    accept_wakes(false);
    glfwTerminate();
}

void WindowDeleter::operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }

WindowHandle open_window(const WindowOptions& options, const std::string& title, Inbox& inbox) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // until the first frame is drawn
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "decoderscope");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "decoderscope");
    const auto [width, height] = size_on_monitor(options);
    WindowHandle window(glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr));
    if (!window) fail_without_opengl(glfw_error());
    glfwSetWindowUserPointer(window.get(), &inbox);
    limit_size(window.get());
    install_callbacks(window.get());
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(0);  // the loop keeps its own pace: a hidden window must not block it
    return window;
}

}  // namespace decoderscope::window
