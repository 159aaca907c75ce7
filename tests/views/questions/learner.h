#pragma once

#include "tests/views/driver.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace decoderscope::testing {

using namespace decoderscope::views;

// Someone with a question, from the screen that a model opens with. Counts their gestures: a click or a key each.
class Learner {
public:
    explicit Learner(std::string_view model = "reverse", ImVec2 size = {1280, 800}) : d(model, 1.0F, size) {}

    // Clicks on the picture on the strip that stands for a step, as often as it takes.
    void click_on_strip(const std::string& step);
    // Clicks on a cell of the stage.
    void click_cell(const std::string& tensor, Index row, Index column);
    // Clicks on the first text in the inspector that contains this. What isn't there is looked for behind its buttons.
    void click_in_inspector(const std::string& part);
    void press(Key key, Mods mods = {});

    // What is drawn in the inspector right of a text, in its line; empty if the text isn't there.
    [[nodiscard]] std::string beside(const std::string& text);
    // Whether the inspector says this, there or behind its buttons; spaces don't count.
    [[nodiscard]] bool reads(const std::string& text);

    [[nodiscard]] const Run& run() const { return *d.session.shown().run; }
    [[nodiscard]] float value(const std::string& tensor, const Cell& cell) const {
        return run().value(tensor).at(cell);
    }

    Driver d;
    int gestures = 0;

private:
    [[nodiscard]] float inspector_edge() const;
    [[nodiscard]] std::optional<DrawnText> in_inspector(const std::string& part) const;
    // Presses one button of the inspector after the other, and scrolls, until it is there.
    void look_behind_buttons(const std::function<bool()>& is_there, std::array<const char*, 3> buttons);
    bool scroll_to(const std::function<bool()>& is_there);
};

}  // namespace decoderscope::testing
