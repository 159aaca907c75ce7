// The window's second face: a page. Its script (page.js) reports what the person does by the functions at the end of
// this file, and the browser calls for a frame before it paints.
#include "app/window/window.h"

#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/wide_characters.h"
#include "app/window/browser/page_keys.h"
#include "app/window/browser/page_script.h"
#include "app/window/window_painter.h"
#include "engine/base/error.h"

#include <emscripten/emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace decoderscope::window {
namespace {

constexpr double frame_seconds = 1.0 / 60.0;
// What a page works between frames at a time, and how often it shows what came of it.
constexpr std::chrono::milliseconds share_of_a_turn{12};
constexpr std::chrono::milliseconds between_pictures{50};
// ImGui needs a frame or two until the layout has settled: after an input, and after a result that was waited for.
constexpr int frames_to_settle = 3;

// The page's clipboard: what was pasted last, until the program itself copies something.
class PageClipboard : public views::compat::Clipboard {
public:
    const char* text() override { return text_.c_str(); }
    void set_text(const char* text) override {
        text_ = text;
        page_copy_text(views::from_carriers(text).c_str());
    }
    void pasted(const char* text) { text_ = views::to_carriers(text); }

private:
    std::string text_;
};

// The page's WebGL 2, made before the painter and after all else gone.
class Canvas {
public:
    Canvas() {
        EmscriptenWebGLContextAttributes attributes;
        emscripten_webgl_init_context_attributes(&attributes);
        attributes.majorVersion = 2;
        attributes.alpha = attributes.depth = attributes.stencil = attributes.antialias = false;
        context_ = emscripten_webgl_create_context("#canvas", &attributes);
        if (context_ <= 0 || emscripten_webgl_make_context_current(context_) != EMSCRIPTEN_RESULT_SUCCESS)
            throw Error("this browser offers no WebGL 2 to draw with; use a newer browser, or switch WebGL 2 on");
        page_prepare_gl();
    }
    // A browser takes the context away when a driver fails, or too many pages draw, and may give it back.
    [[nodiscard]] bool is_lost() const { return emscripten_is_webgl_context_lost(context_) != 0; }

private:
    EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context_ = 0;
};

class Page {
public:
    explicit Page(std::unique_ptr<Frontend> frontend) : frontend_(std::move(frontend)) {
        ImGui::SetCurrentContext(painter_.context());
        ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
        views::compat::set_clipboard(clipboard_);
    }

    // Called by the browser, up to sixty times a second.
    void turn() {
        if (canvas_.is_lost()) return frontend_->advance(Clock::now() + share_of_a_turn);
        if (const bool woken = std::exchange(woken_, false); woken || again_ || !input.empty())
            settling_ = frames_to_settle;
        if (again_ || settling_ > 0)
            draw();
        else if (frontend_->works() && Clock::now() < last_frame_ + between_pictures)
            work();
        else if (Clock::now() >= wake_at_)
            draw();
        if (unread_ && is_quiet()) read();
    }
    void wake() { woken_ = true; }
    void paste(const char* text) {
        clipboard_.pasted(text);
        input.tap(views::Key::v, views::with_ctrl);
        wake();
    }
    // The paths of files that were dropped together, a line each; or a link.
    void drop(const std::string& lines) {
        std::vector<std::string> paths;
        std::istringstream text(lines);
        for (std::string path; std::getline(text, path);) paths.push_back(path);
        frontend_->dropped(paths);
        wake();
    }
    void go_to(const std::string& place) {
        frontend_->go_to(place);
        wake();
    }
    void drawing_restored() {
        page_prepare_gl();
        painter_.begin_again();
        wake();
    }
    void fonts_changed() {
        painter_.use_new_fonts();
        wake();
    }
    void surroundings_changed() {
        frontend_->surroundings_changed();
        wake();
    }
    // What a reader of the document presses, or types into a field in place of what it holds.
    void press(ImGuiID id) {
        frontend_->press(id);
        wake();
    }
    void press_cell(const char* table, std::int64_t row, std::int64_t column) {
        frontend_->press_cell(table, row, column);
        wake();
    }
    void fill(ImGuiID id, const char* text, bool enter) {
        filling_ = Filling{text, enter};
        press(id);
    }

    // The page is hidden or closes: what is unsaved is kept now.
    void hide() { frontend_->ended(false); }
    [[nodiscard]] bool unsaved() { return !frontend_->may_close(); }

    views::InputQueue input;

private:
    // What is done is shown at once, what isn't now and then: a picture takes time from the work.
    void work() {
        frontend_->advance(Clock::now() + share_of_a_turn);
        if (frontend_->works()) return;
        settling_ = frames_to_settle;
        draw();
    }
    // Whether the document beside the canvas can follow: nothing moves, or it has been waiting for a second of work.
    [[nodiscard]] bool is_quiet() const {
        constexpr std::chrono::milliseconds patience{1000};
        const bool rests = !again_ && settling_ == 0 && !frontend_->works() && input.empty();
        return !filling_ && (rests || (frontend_->works() && Clock::now() >= last_read_ + patience));
    }
    void read() {
        frontend_->note_document();
        draw();
        unread_ = false;
        last_read_ = Clock::now();
        page_show_document(frontend_->document().c_str());
    }
    // The field has the keyboard some frames after it was pressed.
    void fill_field() {
        if (!filling_ || --filling_->frames > 0) return;
        if (ImGui::GetIO().WantTextInput) {
            input.tap(views::Key::a, views::with_ctrl);
            if (filling_->text.empty())
                input.tap(views::Key::del);
            else
                input.type(filling_->text);
            if (filling_->enter) input.tap(views::Key::enter);
        }
        filling_.reset();
        wake();
    }
    void draw() {
        unread_ = true;
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - last_frame_).count();
        last_frame_ = now;
        settling_ = std::max(settling_ - 1, 0);
        const int width = page_width();
        const int height = page_height();
        if (width < 1 || height < 1) return;
        emscripten_set_canvas_element_size("#canvas", width, height);
        const bool worked = frontend_->works();
        const Painter::Canvas canvas{width, height, static_cast<float>(page_scale()), seconds};
        again_ = painter_.draw(*frontend_, input, canvas) || input.held();
        if (worked && !frontend_->works()) settling_ = frames_to_settle;  // a frame does work, too
        fill_field();
        if (filling_) again_ = true;
        page_show_cursor(static_cast<int>(ImGui::GetMouseCursor()));
        page_place_caret(ImGui::GetIO().WantTextInput ? 1 : 0);
        if (std::string title = frontend_->title(); title != title_) {
            title_ = std::move(title);
            page_show_title(title_.c_str());
        }
        if (std::string report = frontend_->report(); report != report_) {
            report_ = std::move(report);
            page_report(report_.c_str());
        }
        page_full_screen(frontend_->wants_full_screen() ? 1 : 0);
        constexpr double year = 3.2e7;
        wake_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                      std::clamp(frontend_->next_wake(), frame_seconds, year)));
    }

    std::unique_ptr<Frontend> frontend_;
    Canvas canvas_;
    Painter painter_;
    PageClipboard clipboard_;
    struct Filling {
        std::string text;
        bool enter = false;
        int frames = 4;
    };
    std::optional<Filling> filling_;
    std::string title_, report_;
    Clock::time_point last_read_ = Clock::now();
    bool unread_ = true;
    Clock::time_point last_frame_ = Clock::now() - std::chrono::milliseconds(16);
    Clock::time_point wake_at_ = Clock::now();
    int settling_ = frames_to_settle;
    bool again_ = false;
    bool woken_ = true;
};

// There is one page, and the browser calls it as long as it is open.
std::unique_ptr<Page>& page() {
    static std::unique_ptr<Page> the_one;
    return the_one;
}

}  // namespace

int run_window(std::unique_ptr<Frontend> frontend, const WindowOptions&) {
    page() = std::make_unique<Page>(std::move(frontend));
    emscripten_set_main_loop([] { page()->turn(); }, 0, false);
    return 0;
}

void wake_window() {
    if (page()) page()->wake();
}

// ---- what page.js calls. Positions are in pixels of the canvas; texts are UTF-8.

extern "C" {

EMSCRIPTEN_KEEPALIVE void page_key(const char* code, const char* printed, int down, int mods) {
    if (!page()) return;
    const views::Mods held{(mods & 1) != 0, (mods & 2) != 0, (mods & 4) != 0};
    page()->input.push(views::KeyEvent{key_of_code(code, printed, held.ctrl), down != 0, held});
}

EMSCRIPTEN_KEEPALIVE void page_text(const char* text) {
    if (page()) page()->input.type(text);
}

EMSCRIPTEN_KEEPALIVE void page_move(double x, double y) {
    if (page()) page()->input.push(views::MouseMove{static_cast<float>(x), static_cast<float>(y)});
}

EMSCRIPTEN_KEEPALIVE void page_leave() {
    if (page()) page()->input.push(views::MouseLeave{});
}

EMSCRIPTEN_KEEPALIVE void page_button(int button, int down, int mods) {
    if (!page() || button < 0 || button > 2) return;
    const views::Mods held{(mods & 1) != 0, (mods & 2) != 0, (mods & 4) != 0};
    page()->input.push(views::MouseButton{static_cast<views::Button>(button), down != 0, held});
}

EMSCRIPTEN_KEEPALIVE void page_wheel(double x, double y) {
    if (page()) page()->input.push(views::Wheel{static_cast<float>(x), static_cast<float>(y)});
}

EMSCRIPTEN_KEEPALIVE void page_paste(const char* text) {
    if (page()) page()->paste(text);
}

EMSCRIPTEN_KEEPALIVE void page_drop(const char* paths) {
    if (page()) page()->drop(paths);
}

EMSCRIPTEN_KEEPALIVE void page_go_to(const char* place) {
    if (page()) page()->go_to(place);
}

EMSCRIPTEN_KEEPALIVE void page_press(ImGuiID id) {
    if (page()) page()->press(id);
}

EMSCRIPTEN_KEEPALIVE void page_press_cell(const char* table, int row, int column) {
    if (page()) page()->press_cell(table, row, column);
}

EMSCRIPTEN_KEEPALIVE void page_fill(ImGuiID id, const char* text, int enter) {
    if (page()) page()->fill(id, text, enter != 0);
}

EMSCRIPTEN_KEEPALIVE void page_fonts() {
    if (page()) page()->fonts_changed();
}

EMSCRIPTEN_KEEPALIVE void page_gl_restored() {
    if (page()) page()->drawing_restored();
}

EMSCRIPTEN_KEEPALIVE void page_surroundings() {
    if (page()) page()->surroundings_changed();
}

EMSCRIPTEN_KEEPALIVE void page_hide() {
    if (page()) page()->hide();
}

EMSCRIPTEN_KEEPALIVE void page_damage() { wake_window(); }

EMSCRIPTEN_KEEPALIVE int page_unsaved() { return page() && page()->unsaved() ? 1 : 0; }
}

}  // namespace decoderscope::window
