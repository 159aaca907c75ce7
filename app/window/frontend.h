#pragma once

#include <imgui.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace decoderscope::views {
struct Fonts;
class Textures;
}  // namespace decoderscope::views

namespace decoderscope::window {

using Clock = std::chrono::steady_clock;

// What a window shows. The window calls it, on one thread; the frontend knows nothing about the window.
class Frontend {
public:
    virtual ~Frontend() = default;

    // Builds one frame, between ImGui::NewFrame and ImGui::Render. Returns whether it wants another one soon, because
    // something moves.
    virtual bool frame(views::Textures& textures) = 0;

    // The fonts to use; called before the first frame and whenever the scale changes. They stay valid until the next
    // call.
    virtual void use_fonts(const views::Fonts& fonts) { static_cast<void>(fonts); }
    // The user's scale on top of the monitor's, for a window of this size (pixels at the monitor's scale of 1): at 1
    // everything has the size that the monitor asks for. Called before each frame.
    [[nodiscard]] virtual float text_scale(ImVec2 window) {
        static_cast<void>(window);
        return 1.0F;
    }
    // Whether the window is to fill its monitor.
    [[nodiscard]] virtual bool wants_full_screen() const { return false; }

    // For a page around this one: what is open and selected, as JSON; and going to a step or a cell by its name
    // ("blocks.0.attn.z[0, 1, 2, 3]").
    [[nodiscard]] virtual std::string report() const { return {}; }
    virtual void go_to(const std::string& place) { static_cast<void>(place); }

    // For a reader that doesn't see the frame: the next one notes what it says and offers, and `document` is that, as
    // JSON (views/shell/workspace.h). What the reader presses, a frame takes for a click: a control or a field by its
    // id there, or a cell of a table by its row and column.
    virtual void note_document() {}
    [[nodiscard]] virtual std::string document() const { return {}; }
    virtual void press(std::uint32_t id) { static_cast<void>(id); }
    virtual void press_cell(const std::string& table, std::int64_t row, std::int64_t column) {
        static_cast<void>(table), static_cast<void>(row), static_cast<void>(column);
    }

    // What the system is set to has changed: dark or light, motion; or more of the program's own files are there.
    virtual void surroundings_changed() {}

    // Files that were dropped on the window; or a link that a page was given.
    virtual void dropped(std::span<const std::string> paths) { static_cast<void>(paths); }
    [[nodiscard]] virtual std::string title() const { return "Decoderscope"; }  // not a message: a name
    [[nodiscard]] virtual bool wants_to_close() const { return false; }
    // The user asks to close the window. If it can't close yet (a question must be answered first), wants_to_close()
    // says when.
    [[nodiscard]] virtual bool may_close() { return true; }
    // The window has closed: because the user wanted it to, or because a signal ended the program.
    virtual void ended(bool closed_by_user) { static_cast<void>(closed_by_user); }
    // Without threads: does work that waits, between frames and until then. A frame shows what came of it.
    virtual void advance(Clock::time_point until) { static_cast<void>(until); }
    // Whether there is such work.
    [[nodiscard]] virtual bool works() const { return false; }
    // Seconds until it must be drawn again if there is no input; infinity: never.
    [[nodiscard]] virtual double next_wake() const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace decoderscope::window
