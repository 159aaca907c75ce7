#include "app/window.h"

#include "app/views/imgui_compat.h"
#include "app/views/wide_characters.h"
#include "app/window_keys.h"
#include "app/window_painter.h"
#include "engine/error.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace decoderscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double frame_seconds = 1.0 / 60.0;
// ImGui needs a frame or two after an input until everything that it moved is where it belongs.
constexpr int frames_to_settle = 3;
// A signal does not end GLFW's wait, so no wait is longer; nothing is drawn when it ends.
constexpr double longest_wait = 0.5;

// ---- Waking. Any thread may ask for a frame, also when the window is just going.

struct Waker {
    std::mutex mutex;
    bool open = false;   // GLFW can take an event
    bool woken = false;  // somebody asked since the last look
};

Waker& waker() {
    static Waker the_one;
    return the_one;
}

void set_open(bool open) {
    const std::lock_guard lock(waker().mutex);
    waker().open = open;
}

bool take_wake() {
    const std::lock_guard lock(waker().mutex);
    return std::exchange(waker().woken, false);
}

// ---- Signals. While it lives, SIGINT and SIGTERM only leave a note.

volatile std::sig_atomic_t told_to_stop = 0;

class StopSignals {
public:
    StopSignals() {
        told_to_stop = 0;
        struct sigaction note {};
        note.sa_handler = [](int) { told_to_stop = 1; };
        for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &note, &before_[i]);
    }
    ~StopSignals() {
        for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
    }
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
    std::array<struct sigaction, 2> before_{};
};

// ---- GLFW.

std::string glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text == nullptr ? "no reason given" : text;
}

class Glfw {
public:
    Glfw() {
        if (glfwInit() != GLFW_TRUE) {
            throw Error("cannot open a window: there is no display to open it on (" + glfw_error() +
                        "); set DISPLAY, or use the commands that need no window: decoderscope --help");
        }
        set_open(true);
    }
    ~Glfw() {
        set_open(false);
        glfwTerminate();
    }
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

Inbox& inbox_of(GLFWwindow* window) { return *static_cast<Inbox*>(glfwGetWindowUserPointer(window)); }

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    if (action == GLFW_REPEAT) return;  // ImGui repeats by itself
    inbox_of(window).input.push(
        KeyEvent{key_of_glfw(key, scancode), action == GLFW_PRESS, mods_of_glfw(mods, key, action)});
}

void on_button(GLFWwindow* window, int button, int action, int mods) {
    if (button > GLFW_MOUSE_BUTTON_MIDDLE) return;
    inbox_of(window).input.push(
        MouseButton{static_cast<Button>(button), action == GLFW_PRESS, mods_of_glfw(mods, GLFW_KEY_UNKNOWN, action)});
}

void on_move(GLFWwindow* window, double x, double y) {
    Inbox& inbox = inbox_of(window);
    inbox.input.push(
        MouseMove{static_cast<float>(x * inbox.pixels_per_unit), static_cast<float>(y * inbox.pixels_per_unit)});
}

void on_enter(GLFWwindow* window, int entered) {
    if (entered == GLFW_FALSE) inbox_of(window).input.push(MouseLeave{});
}

void on_wheel(GLFWwindow* window, double x, double y) {
    inbox_of(window).input.push(Wheel{static_cast<float>(x), static_cast<float>(y)});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
    auto& dropped = inbox_of(window).dropped;
    dropped.insert(dropped.end(), paths, paths + count);
}

void damage(GLFWwindow* window) { inbox_of(window).damaged = true; }

void install_callbacks(GLFWwindow* window) {
    glfwSetKeyCallback(window, on_key);
    glfwSetCharCallback(
        window, [](GLFWwindow* w, unsigned code) { inbox_of(w).input.push(Character{static_cast<char32_t>(code)}); });
    glfwSetMouseButtonCallback(window, on_button);
    glfwSetCursorPosCallback(window, on_move);
    glfwSetCursorEnterCallback(window, on_enter);
    glfwSetScrollCallback(window, on_wheel);
    glfwSetDropCallback(window, on_drop);
    glfwSetWindowRefreshCallback(window, damage);
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { damage(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { damage(w); });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { damage(w); });
    glfwSetWindowIconifyCallback(window, [](GLFWwindow* w, int) { damage(w); });
}

struct WindowDeleter {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowHandle = std::unique_ptr<GLFWwindow, WindowDeleter>;

// As large as asked for on this monitor's scale, but no larger than the monitor leaves room for.
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
    const auto fit = [scale](int wanted, int room) {
        const int scaled = static_cast<int>(static_cast<float>(wanted) * scale);
        return room > 0 ? std::min(scaled, room) : scaled;
    };
    return {fit(options.width, width), fit(options.height, height)};
}

WindowHandle open_window(const WindowOptions& options, const std::string& title, Inbox& inbox) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // until there is something to see
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "decoderscope");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "decoderscope");
    const auto [width, height] = size_on_monitor(options);
    WindowHandle window(glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr));
    if (!window) {
        throw Error("cannot open a window: this display offers no OpenGL 3.3 (" + glfw_error() +
                    "); Mesa's software renderer does: install Debian's libgl1-mesa-dri, or set "
                    "LIBGL_ALWAYS_SOFTWARE=1; decoderscope --help lists what needs no window");
    }
    glfwSetWindowUserPointer(window.get(), &inbox);
    glfwSetWindowSizeLimits(window.get(), 480, 320, GLFW_DONT_CARE, GLFW_DONT_CARE);
    install_callbacks(window.get());
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(0);  // the loop keeps its own pace: a hidden window must not block it
    return window;
}

class GlfwClipboard : public compat::Clipboard {
public:
    explicit GlfwClipboard(GLFWwindow* window) : window_(window) {}
    const char* text() override {
        const char* text = glfwGetClipboardString(window_);
        carried_ = text == nullptr ? std::string() : to_carriers(text);
        return text == nullptr ? nullptr : carried_.c_str();
    }
    void set_text(const char* text) override { glfwSetClipboardString(window_, from_carriers(text).c_str()); }

private:
    GLFWwindow* window_;
    std::string carried_;
};

// The pointer's shapes, made as they are needed.
class Cursors {
public:
    void show(GLFWwindow* window, ImGuiMouseCursor wanted) {
        if (wanted == shown_) return;
        shown_ = wanted;
        glfwSetInputMode(window, GLFW_CURSOR,
                         wanted == ImGuiMouseCursor_None ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL);
        auto& cursor = made_[glfw_shape(wanted)];
        if (!cursor) cursor.reset(glfwCreateStandardCursor(glfw_shape(wanted)));
        glfwSetCursor(window, cursor.get());
    }

private:
    static int glfw_shape(ImGuiMouseCursor cursor) {
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
    struct Deleter {
        void operator()(GLFWcursor* cursor) const { glfwDestroyCursor(cursor); }
    };
    std::map<int, std::unique_ptr<GLFWcursor, Deleter>> made_;
    ImGuiMouseCursor shown_ = ImGuiMouseCursor_Arrow;
};

// ---- The loop.

class Loop {
public:
    Loop(Frontend& frontend, const WindowOptions& options)
        : frontend_(frontend),
          title_(frontend.title()),
          window_(open_window(options, title_, inbox_)),
          clipboard_(window_.get()) {
        ImGui::SetCurrentContext(painter_.context());
        ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
        compat::set_clipboard(clipboard_);
    }

    void run() {
        draw();
        glfwShowWindow(window_.get());
        while (!closing()) {
            wait();
            deliver_drops();
            if (has_cause()) draw();
        }
    }

private:
    [[nodiscard]] bool closing() const {
        return told_to_stop != 0 || glfwWindowShouldClose(window_.get()) == GLFW_TRUE || frontend_.wants_to_close();
    }

    // Until the next frame's time where one is due, else until something happens.
    void wait() {
        if (again_ || settling_ > 0) {
            std::this_thread::sleep_until(last_frame_ + std::chrono::duration<double>(frame_seconds));
            glfwPollEvents();
        } else {
            const double due = std::chrono::duration<double>(wake_at_ - Clock::now()).count();
            glfwWaitEventsTimeout(std::clamp(due, 0.001, longest_wait));
        }
    }

    void deliver_drops() {
        if (inbox_.dropped.empty()) return;
        frontend_.dropped(std::exchange(inbox_.dropped, {}));
        inbox_.damaged = true;
    }

    bool has_cause() {
        const bool woken = take_wake();
        const bool damaged = std::exchange(inbox_.damaged, false);
        if (woken || damaged || !inbox_.input.empty()) settling_ = frames_to_settle;
        return again_ || settling_ > 0 || Clock::now() >= wake_at_;
    }

    void draw() {
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last_frame_).count();
        last_frame_ = now;
        settling_ = std::max(settling_ - 1, 0);
        if (const auto canvas = this->canvas(seconds)) {
            again_ = painter_.draw(frontend_, inbox_.input, *canvas) || inbox_.input.held();
            cursors_.show(window_.get(), ImGui::GetMouseCursor());
            show_title();
            glfwSwapBuffers(window_.get());
        } else {
            again_ = false;
        }
        wake_at_ = wake_after(frontend_.next_wake());
    }

    // What there is to draw on; nothing where the window is put away.
    std::optional<Painter::Canvas> canvas(double seconds) {
        int width = 0;
        int height = 0;
        glfwGetFramebufferSize(window_.get(), &width, &height);
        if (width < 1 || height < 1 || glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == GLFW_TRUE) {
            return std::nullopt;
        }
        int units = 0;
        int ignored_units = 0;
        glfwGetWindowSize(window_.get(), &units, &ignored_units);
        inbox_.pixels_per_unit = units > 0 ? static_cast<double>(width) / units : 1.0;
        float scale = 1.0F;
        float ignored = 1.0F;
        glfwGetWindowContentScale(window_.get(), &scale, &ignored);
        return Painter::Canvas{width, height, scale, seconds};
    }

    void show_title() {
        std::string title = frontend_.title();
        if (title == title_) return;
        title_ = std::move(title);
        glfwSetWindowTitle(window_.get(), title_.c_str());
    }

    // The clock's time in so many seconds: not before the next frame's, and within what it can count.
    static Clock::time_point wake_after(double seconds) {
        constexpr double year = 3.2e7;
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::clamp(seconds, frame_seconds, year)));
    }

    Frontend& frontend_;
    std::string title_;
    Inbox inbox_;
    WindowHandle window_;
    Painter painter_;
    GlfwClipboard clipboard_;
    Cursors cursors_;
    Clock::time_point last_frame_ = Clock::now() - std::chrono::milliseconds(16);
    Clock::time_point wake_at_ = Clock::now();
    int settling_ = frames_to_settle;
    bool again_ = false;  // the last frame asked for another one
};

}  // namespace

int run_window(Frontend& frontend, const WindowOptions& options) {
    const StopSignals signals;
    const Glfw glfw;
    Loop(frontend, options).run();
    return 0;
}

void wake_window() {
    const std::lock_guard lock(waker().mutex);
    waker().woken = true;
    if (waker().open) glfwPostEmptyEvent();
}

}  // namespace decoderscope
