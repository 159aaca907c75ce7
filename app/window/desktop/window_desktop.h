#pragma once

#include "app/views/widgets/imgui_compat.h"

#include <map>
#include <memory>
#include <string>

struct GLFWwindow;
struct GLFWcursor;

// What the window shares with the desktop beyond input and pictures.
namespace decoderscope::window {

// The clipboard, in the characters that ImGui counts (app/views/widgets/wide_characters.h).
class GlfwClipboard : public views::compat::Clipboard {
public:
    explicit GlfwClipboard(GLFWwindow* window) : window_(window) {}
    const char* text() override;
    void set_text(const char* text) override;

private:
    GLFWwindow* window_;
    std::string carried_;
};

// The pointer's shapes, made as they are needed.
class Cursors {
public:
    void show(GLFWwindow* window, ImGuiMouseCursor wanted);

private:
    struct Deleter {
        void operator()(GLFWcursor* cursor) const;
    };
    std::map<int, std::unique_ptr<GLFWcursor, Deleter>> made_;
    ImGuiMouseCursor shown_ = ImGuiMouseCursor_Arrow;
};

// Makes a window fill the monitor that shows most of it, and gives it its place and size back.
class FullScreen {
public:
    void follow(GLFWwindow* window, bool wanted);

private:
    struct Place {
        int x = 0, y = 0, width = 0, height = 0;
    };
    bool full_ = false;
    Place before_;
};

}  // namespace decoderscope::window
