#include "app/window/window_desktop.h"

#include "app/views/widgets/wide_characters.h"

#include <GLFW/glfw3.h>

namespace decoderscope {

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

}  // namespace

const char* GlfwClipboard::text() {
    const char* text = glfwGetClipboardString(window_);
    carried_ = text == nullptr ? std::string() : to_carriers(text);
    return text == nullptr ? nullptr : carried_.c_str();
}

void GlfwClipboard::set_text(const char* text) { glfwSetClipboardString(window_, from_carriers(text).c_str()); }

void Cursors::show(GLFWwindow* window, ImGuiMouseCursor wanted) {
    if (wanted == shown_) return;
    shown_ = wanted;
    glfwSetInputMode(window, GLFW_CURSOR, wanted == ImGuiMouseCursor_None ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL);
    auto& cursor = made_[glfw_shape(wanted)];
    if (!cursor) cursor.reset(glfwCreateStandardCursor(glfw_shape(wanted)));
    glfwSetCursor(window, cursor.get());
}

void Cursors::Deleter::operator()(GLFWcursor* cursor) const { glfwDestroyCursor(cursor); }

}  // namespace decoderscope
