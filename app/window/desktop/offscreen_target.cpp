#include "app/window/desktop/offscreen_target.h"

#include "engine/base/error.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>

#include <array>

namespace decoderscope::window {

namespace {

[[noreturn]] void fail(const Sentence& why) {
    throw Error("cannot draw without a screen: {why} (Debian has it in libegl1 and libgl1-mesa-dri)", {{"why", why}});
}

// EGL's display without a screen, initialised; EGL_NO_DISPLAY if there is none.
EGLDisplay open_display() {
    const EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    return display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE ? display : EGL_NO_DISPLAY;
}

// An OpenGL 3.3 context without a surface, current while it lives. The display stays open: it is the process's only
// one, and other contexts may be in use on it.
class SurfacelessContext {
public:
    SurfacelessContext() : display_(open_display()) {
        if (display_ == EGL_NO_DISPLAY) fail(message("EGL has no display without a screen"));
        try {
            make_context();
        } catch (...) {
            close();
            throw;
        }
    }
    ~SurfacelessContext() { close(); }
    SurfacelessContext(const SurfacelessContext&) = delete;
    SurfacelessContext& operator=(const SurfacelessContext&) = delete;

    void make_current() const {
        if (eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) != EGL_TRUE) {
            fail(message("EGL can't draw without a surface"));
        }
    }

private:
    void make_context() {
        constexpr std::array<EGLint, 5> any{EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
        constexpr std::array<EGLint, 7> core{
            EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint found = 0;
        if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE ||
            eglChooseConfig(display_, any.data(), &config, 1, &found) != EGL_TRUE || found == 0) {
            fail(message("EGL offers no OpenGL"));
        }
        context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, core.data());
        if (context_ == EGL_NO_CONTEXT) fail(message("EGL offers no OpenGL 3.3"));
        make_current();
    }

    void close() {
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    }

    EGLDisplay display_ = EGL_NO_DISPLAY;
    EGLContext context_ = EGL_NO_CONTEXT;
};

// The framebuffer drawn into, bound while it lives.
class Framebuffer {
public:
    Framebuffer(int width, int height) {
        glGenRenderbuffers(1, &color_);
        glBindRenderbuffer(GL_RENDERBUFFER, color_);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
        glGenFramebuffers(1, &name_);
        bind();
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_);
        if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
            release();
            fail(message("no framebuffer of {width} x {height} pixels", {{"width", width}, {"height", height}}));
        }
    }
    ~Framebuffer() { release(); }
    Framebuffer(const Framebuffer&) = delete;
    Framebuffer& operator=(const Framebuffer&) = delete;

    void bind() const { glBindFramebuffer(GL_FRAMEBUFFER, name_); }

private:
    void release() {
        glDeleteFramebuffers(1, &name_);
        glDeleteRenderbuffers(1, &color_);
    }

    GLuint name_ = 0;
    GLuint color_ = 0;
};

}  // namespace

struct OffscreenTarget::Parts {
    Parts(int width, int height) : framebuffer(width, height) {}

    SurfacelessContext context;
    Framebuffer framebuffer;
};

bool OffscreenTarget::available() { return open_display() != EGL_NO_DISPLAY; }
OffscreenTarget::OffscreenTarget(int width, int height) : parts_(std::make_unique<Parts>(width, height)) {}
OffscreenTarget::~OffscreenTarget() { parts_->context.make_current(); }

void OffscreenTarget::use() const {
    parts_->context.make_current();
    parts_->framebuffer.bind();
}

}  // namespace decoderscope::window
