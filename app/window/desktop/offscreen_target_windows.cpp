// A window that is never shown, and a framebuffer of its OpenGL: Windows has no EGL.
#include "app/window/desktop/offscreen_target.h"
#include "app/window/desktop/window_glfw.h"
#include "app/window/window_gl.h"
#include "engine/base/error.h"

#include <GLFW/glfw3.h>

namespace decoderscope::window {

namespace {

// The window's OpenGL functions after 1.1, looked up by name.
struct FramebufferFunctions {
    PFNGLGENRENDERBUFFERSPROC gen_renderbuffers = get("glGenRenderbuffers");
    PFNGLBINDRENDERBUFFERPROC bind_renderbuffer = get("glBindRenderbuffer");
    PFNGLRENDERBUFFERSTORAGEPROC renderbuffer_storage = get("glRenderbufferStorage");
    PFNGLGENFRAMEBUFFERSPROC gen_framebuffers = get("glGenFramebuffers");
    PFNGLBINDFRAMEBUFFERPROC bind_framebuffer = get("glBindFramebuffer");
    PFNGLFRAMEBUFFERRENDERBUFFERPROC framebuffer_renderbuffer = get("glFramebufferRenderbuffer");
    PFNGLCHECKFRAMEBUFFERSTATUSPROC check_framebuffer_status = get("glCheckFramebufferStatus");

private:
    struct Named {
        GLFWglproc function;
        template <class Function>
        operator Function() const {  // NOLINT: each member has its own type
            return reinterpret_cast<Function>(function);
        }
    };
    static Named get(const char* name) { return {glfwGetProcAddress(name)}; }
};

WindowHandle hidden_window() {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    WindowHandle window(glfwCreateWindow(64, 64, "", nullptr, nullptr));
    if (!window) throw Error("cannot draw without a screen: there is no OpenGL 3.3");
    glfwMakeContextCurrent(window.get());
    return window;
}

}  // namespace

struct OffscreenTarget::Parts {
    Parts(int width, int height) : window(hidden_window()) {
        gl.gen_renderbuffers(1, &color);
        gl.bind_renderbuffer(GL_RENDERBUFFER, color);
        gl.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height);
        gl.gen_framebuffers(1, &framebuffer);
        gl.bind_framebuffer(GL_FRAMEBUFFER, framebuffer);
        gl.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
        if (gl.check_framebuffer_status(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
            throw Error("cannot draw without a screen: there is no framebuffer of this size");
    }

    Glfw glfw;
    WindowHandle window;
    FramebufferFunctions gl;
    GLuint color = 0, framebuffer = 0;  // they end with the window
};

bool OffscreenTarget::available() { return glfwInit() == GLFW_TRUE; }
OffscreenTarget::OffscreenTarget(int width, int height) : parts_(std::make_unique<Parts>(width, height)) {}
OffscreenTarget::~OffscreenTarget() { use(); }

void OffscreenTarget::use() const {
    glfwMakeContextCurrent(parts_->window.get());
    parts_->gl.bind_framebuffer(GL_FRAMEBUFFER, parts_->framebuffer);
}

}  // namespace decoderscope::window
