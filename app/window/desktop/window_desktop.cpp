#include "app/window/desktop/window_desktop.h"

#include "app/views/widgets/wide_characters.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace decoderscope::window {

namespace {

int glfw_shape(ImGuiMouseCursor cursor) {
    switch (cursor) {
        case ImGuiMouseCursor_TextInput:
            return GLFW_IBEAM_CURSOR;
        case ImGuiMouseCursor_ResizeNS:
            return GLFW_VRESIZE_CURSOR;
        case ImGuiMouseCursor_ResizeEW:
            return GLFW_HRESIZE_CURSOR;
        case ImGuiMouseCursor_ResizeAll:
            return GLFW_CROSSHAIR_CURSOR;
        case ImGuiMouseCursor_Hand:
            return GLFW_HAND_CURSOR;
        default:
            return GLFW_ARROW_CURSOR;
    }
}

// The monitor that shows most of a rectangle of the desktop; the primary one if none does, null if there is none.
GLFWmonitor* monitor_of(int x, int y, int width, int height) {
    int count = 0;
    GLFWmonitor** const monitors = glfwGetMonitors(&count);
    GLFWmonitor* best = glfwGetPrimaryMonitor();
    long most = 0;
    for (int i = 0; i < count; ++i) {
        int left = 0;
        int top = 0;
        glfwGetMonitorPos(monitors[i], &left, &top);
        const GLFWvidmode* const mode = glfwGetVideoMode(monitors[i]);
        if (mode == nullptr) continue;
        const long wide = std::min(x + width, left + mode->width) - std::max(x, left);
        const long high = std::min(y + height, top + mode->height) - std::max(y, top);
        if (wide <= 0 || high <= 0 || wide * high <= most) continue;
        most = wide * high;
        best = monitors[i];
    }
    return best;
}

}  // namespace

const char* GlfwClipboard::text() {
    const char* text = glfwGetClipboardString(window_);
    carried_ = text == nullptr ? std::string() : views::to_carriers(text);
    return text == nullptr ? nullptr : carried_.c_str();
}

void GlfwClipboard::set_text(const char* text) { glfwSetClipboardString(window_, views::from_carriers(text).c_str()); }

void Cursors::show(GLFWwindow* window, ImGuiMouseCursor wanted) {
    if (wanted == shown_) return;
    shown_ = wanted;
    glfwSetInputMode(window, GLFW_CURSOR, wanted == ImGuiMouseCursor_None ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL);
    auto& cursor = made_[glfw_shape(wanted)];
    if (!cursor) cursor.reset(glfwCreateStandardCursor(glfw_shape(wanted)));
    glfwSetCursor(window, cursor.get());
}

void Cursors::Deleter::operator()(GLFWcursor* cursor) const { glfwDestroyCursor(cursor); }

void FullScreen::follow(GLFWwindow* window, bool wanted) {
    if (wanted == full_) return;
    full_ = wanted;
    if (!wanted) {
        glfwSetWindowMonitor(window, nullptr, before_.x, before_.y, before_.width, before_.height, GLFW_DONT_CARE);
        return;
    }
    glfwGetWindowPos(window, &before_.x, &before_.y);
    glfwGetWindowSize(window, &before_.width, &before_.height);
    GLFWmonitor* const monitor = monitor_of(before_.x, before_.y, before_.width, before_.height);
    const GLFWvidmode* const mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
    full_ = mode != nullptr;
    if (full_) glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

}  // namespace decoderscope::window
