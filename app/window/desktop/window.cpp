#include "app/window/window.h"

#include "app/window/desktop/window_desktop.h"
#include "app/window/desktop/window_glfw.h"
#include "app/window/desktop/window_signals.h"
#include "app/window/window_painter.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace decoderscope::window {
namespace {

constexpr double frame_seconds = 1.0 / 60.0;
// ImGui needs a frame or two until the layout has settled: after an input, and after a result that was waited for.
constexpr int frames_to_settle = 3;
// A signal doesn't end GLFW's wait, so no wait is longer than this. Nothing is drawn when it ends.
constexpr double longest_wait = 0.5;

// Waits, and draws when needed.
class Loop {
public:
    Loop(const std::string& title, const WindowOptions& options)
        : title_(title), window_(open_window(options, title_, inbox_)), clipboard_(window_.get()) {
        ImGui::SetCurrentContext(painter_.context());
        ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
        views::compat::set_clipboard(clipboard_);
    }

    void run(Frontend& frontend) {
        frontend_ = &frontend;
        inbox_.damaged = true;
        settling_ = frames_to_settle;
        draw();
        glfwShowWindow(window_.get());
        while (!closing()) {
            wait();
            deliver_drops();
            if (has_cause()) draw();
        }
    }

private:
    [[nodiscard]] bool closing() {
        if (StopSignals::told_to_stop() || frontend_->wants_to_close()) return true;
        if (glfwWindowShouldClose(window_.get()) != GLFW_TRUE) return false;
        if (frontend_->may_close()) return true;
        glfwSetWindowShouldClose(window_.get(), GLFW_FALSE);
        inbox_.damaged = true;  // draws the question to be answered
        return false;
    }

    // Waits until the next frame's time if one is due, otherwise until an event. Works meanwhile where no thread does.
    void wait() {
        if (frontend_->works()) {
            frontend_->advance(Clock::now() + std::chrono::milliseconds(16));
            glfwPollEvents();
        } else if (again_ || settling_ > 0) {
            std::this_thread::sleep_until(last_frame_ + std::chrono::duration<double>(frame_seconds));
            glfwPollEvents();
        } else {
            const double due = std::chrono::duration<double>(wake_at_ - Clock::now()).count();
            glfwWaitEventsTimeout(std::clamp(due, 0.001, longest_wait));
        }
    }

    void deliver_drops() {
        if (inbox_.dropped.empty()) return;
        frontend_->dropped(std::exchange(inbox_.dropped, {}));
        inbox_.damaged = true;
    }

    bool has_cause() {
        const bool woken = take_wake();
        const bool damaged = std::exchange(inbox_.damaged, false);
        if (woken || damaged || again_ || !inbox_.input.empty()) settling_ = frames_to_settle;
        return again_ || settling_ > 0 || Clock::now() >= wake_at_;
    }

    void draw() {
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last_frame_).count();
        last_frame_ = now;
        settling_ = std::max(settling_ - 1, 0);
        if (const auto canvas = this->canvas(seconds)) {
            again_ = painter_.draw(*frontend_, inbox_.input, *canvas) || inbox_.input.held();
            cursors_.show(window_.get(), ImGui::GetMouseCursor());
            show_title();
            full_screen_.follow(window_.get(), frontend_->wants_full_screen());
            glfwSwapBuffers(window_.get());
        } else {
            again_ = false;
        }
        wake_at_ = wake_after(frontend_->next_wake());
    }

    // The area to draw on; nothing if the window is minimised.
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
        std::string title = frontend_->title();
        if (title == title_) return;
        title_ = std::move(title);
        glfwSetWindowTitle(window_.get(), title_.c_str());
    }

    // The clock's time in `seconds`: not before the next frame's, and within the clock's range.
    static Clock::time_point wake_after(double seconds) {
        constexpr double year = 3.2e7;
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::clamp(seconds, frame_seconds, year)));
    }

    Frontend* frontend_ = nullptr;  // that is shown now
    std::string title_;
    Inbox inbox_;
    WindowHandle window_;
    Painter painter_;
    GlfwClipboard clipboard_;
    Cursors cursors_;
    FullScreen full_screen_;
    Clock::time_point last_frame_ = Clock::now() - std::chrono::milliseconds(16);
    Clock::time_point wake_at_ = Clock::now();
    int settling_ = frames_to_settle;
    bool again_ = false;  // the last frame requested another one
};

}  // namespace

struct DesktopWindow::Parts {
    Parts(const std::string& title, const WindowOptions& options) : loop(title, options) {}

    StopSignals signals;
    Glfw glfw;
    Loop loop;  // last: it uses the others
};

DesktopWindow::DesktopWindow(const WindowOptions& options) : options_(options) {}
DesktopWindow::~DesktopWindow() = default;

void DesktopWindow::show(Frontend& frontend) {
    if (!parts_) parts_ = std::make_unique<Parts>(frontend.title(), options_);
    parts_->loop.run(frontend);
}

bool DesktopWindow::told_to_stop() const { return StopSignals::told_to_stop(); }

int run_window(std::unique_ptr<Frontend> frontend, const WindowOptions& options) {
    DesktopWindow window(options);
    window.show(*frontend);
    frontend->ended(!window.told_to_stop());
    return 0;
}

}  // namespace decoderscope::window
