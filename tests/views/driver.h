#pragma once

#include "app/core/files/saved_session.h"
#include "app/core/session/session.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/fonts.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/keys_and_mouse.h"
#include "app/views/widgets/theme.h"
#include "tests/views/drawn_pictures.h"
#include "tests/views/drawn_text.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::core;
using namespace decoderscope::load;
using namespace decoderscope::views;

// Remembers what was uploaded and draws nothing: for tests without a GPU.
class NullTextures : public Textures {
public:
    struct Picture {
        int width = 0, height = 0;
        std::uint64_t version = 0;
        std::vector<std::uint32_t> rgba;
        int uploads = 0;  // how often this key was uploaded
    };

    ImTextureID upload(std::uint64_t key, int width, int height, std::span<const std::uint32_t> rgba,
                       std::uint64_t version) override;
    ImTextureID find(std::uint64_t key, std::uint64_t version) override;
    void end_frame() override {}

    [[nodiscard]] const std::map<std::uint64_t, Picture>& pictures() const { return pictures_; }

private:
    std::map<std::uint64_t, Picture> pictures_;
};

// The contents of the window without a window: a session, the views, and a user's hands and eyes. Commands are
// collected and applied, as in the program.
class Driver {
public:
    explicit Driver(std::string_view model = "causal-lm-as-meant", float scale = 1.0F, ImVec2 size = {1280, 800});
    explicit Driver(Opened opened, float scale = 1.0F, ImVec2 size = {1280, 800});
    // Continues saved work.
    explicit Driver(const files::SavedSession& work, float scale = 1.0F, ImVec2 size = {1280, 800});
    // Another window on a session that is there.
    explicit Driver(Session& shared, float scale = 1.0F, ImVec2 size = {1280, 800});
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    InputQueue hands;
    NullTextures textures;

private:
    std::unique_ptr<Session> own_;

public:
    Session& session;
    ViewState state;
    Commands commands;                                  // all commands since forget()
    bool waits = true;                                  // after each frame, for all work to be done
    std::function<bool(const Command&)> may = nullptr;  // whether a command is carried out; nullptr: all are

    void point(ImVec2 at) {
        hands.push(MouseMove{at.x, at.y});
        settle();
    }
    void press(Key key, Mods mods = {}) {
        hands.tap(key, mods);
        settle();
    }
    // Types into the field that has the focus, in place of what it holds.
    void type_over(std::string_view text) {
        hands.tap(Key::a, with_ctrl);
        hands.type(text);
        settle();
    }
    void click(ImVec2 at, Button button = Button::left, Mods mods = {}) {
        hands.click(at.x, at.y, button, mods);
        settle();
    }

    // Does what a person could ask for, and draws what comes of it.
    void apply(const Command& command) {
        session.apply(command);
        settle();
    }

    // Draws frames until all input is processed, and two more.
    void settle();
    // Draws one frame.
    void settle_one();
    // As in the program, where nothing is waited for: draws until all input is processed and nothing is being read or
    // computed, and so many more frames; but no longer than `at_most`.
    void live(int frames = 2, std::chrono::seconds at_most = std::chrono::hours(1));
    void forget() { commands.clear(); }

    // The CPU time of the window's thread that the last frame took to build, in milliseconds: all panels, without
    // reading the text back.
    [[nodiscard]] double frame_milliseconds() const { return frame_milliseconds_; }

    // What is on the screen.
    [[nodiscard]] const std::vector<DrawnText>& seen() const { return shown().texts; }
    [[nodiscard]] const std::vector<Area>& pictures() const { return shown().pictures; }
    // A step's heatmap at the cursor's place, as it is drawn under its title (the step's name, if none is given).
    [[nodiscard]] DrawnHeatmap heatmap(const std::string& step, std::string_view title = "") const;
    [[nodiscard]] const Fonts& fonts() const { return fonts_; }
    [[nodiscard]] bool sees(std::string_view part) const { return find_text(seen(), part).has_value(); }
    // Where the open tab is drawn: left of the inspector, from below the tabs' titles to the foot.
    [[nodiscard]] Area stage() const;
    [[nodiscard]] bool on_stage(const DrawnText& piece) const {
        const Area area = stage();
        return area.contains(piece.low) && area.contains(piece.high);
    }
    // The first piece there that contains this.
    [[nodiscard]] std::optional<DrawnText> find_on_stage(std::string_view part) const;
    // The middle of the picture on the strip, or of the node on its line, that stands for a step.
    [[nodiscard]] std::optional<ImVec2> find_on_strip(const std::string& step) const;
    // Clicks there until it is the current step. Returns how often; the test fails if it never is.
    int click_on_strip(const std::string& step);
    // The middle of a token's colour under the field that it is typed into.
    [[nodiscard]] ImVec2 token_in_field(Index position, bool source = false);
    // What stands on the same line behind the first piece that contains this: the value in a label's field, a row's
    // first cell. The test fails if there is no such label, or nothing behind it.
    [[nodiscard]] DrawnText behind(std::string_view label) const;
    // A place one line above a piece of text, such as a mark above its name, or below it.
    [[nodiscard]] static ImVec2 line_above(const DrawnText& piece) { return lines_from(piece, -1.0F); }
    [[nodiscard]] static ImVec2 line_below(const DrawnText& piece) { return lines_from(piece, 1.0F); }
    // Clicks on the middle of the first piece of text that contains this. Returns whether there is one.
    bool click_text(std::string_view part, Button button = Button::left);
    // The same on the first piece that is exactly this, such as a button's label.
    bool click_label(std::string_view label);

    // The last command or request of a kind; nullptr if there was none.
    template <class T>
    [[nodiscard]] const T* last() const {
        for (auto asked = commands.rbegin(); asked != commands.rend(); ++asked)
            if (const T* found = as<T>(*asked)) return found;
        return nullptr;
    }

private:
    Driver(std::unique_ptr<Session> own, Session* shared, float scale, ImVec2 size);
    [[nodiscard]] static ImVec2 lines_from(const DrawnText& piece, float lines) {
        return {piece.middle().x, piece.middle().y + lines * 1.5F * (piece.high.y - piece.low.y)};
    }
    bool frame();
    struct Shown {
        std::vector<DrawnText> texts;
        std::vector<Area> pictures;
    };
    // What the last frame shows, read back on demand: that takes longer than the frame.
    [[nodiscard]] const Shown& shown() const;
    void apply(const Commands& asked);
    void load(float scale);

    struct Deleter {
        void operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }
    };
    GlyphDemand demand_;
    std::unique_ptr<ImGuiContext, Deleter> context_;
    Fonts fonts_;
    mutable std::optional<Shown> shown_;
    double frame_milliseconds_ = 0.0;
    bool styled_dark_ = true;
};

}  // namespace decoderscope::testing
