#pragma once

#include "tests/views/driver.h"

#include <string>
#include <string_view>

namespace decoderscope::testing {

using namespace decoderscope::core::lessons;
using namespace decoderscope::views;

// Someone with a question, from the screen that a model opens with. Counts their gestures: a click or a key each.
class Learner {
public:
    explicit Learner(std::string_view model = "reverse", ImVec2 size = {1280, 800}) : d(model, 1.0F, size) {}

    // Clicks on a part of the map, or on a step below the heading of its part, by its text there; of several the last
    // one, the decoder's.
    void click_in_map(const std::string& name, const std::string& heading = "");
    // Clicks on a cell of the stage.
    void click_cell(const std::string& tensor, Index row, Index column);
    // Clicks on the first text in the inspector that contains this.
    void click_in_inspector(const std::string& part);
    void press(Key key, Mods mods = {});

    // What is drawn in the inspector right of a text, in its line; empty if the text isn't there.
    [[nodiscard]] std::string beside(const std::string& text) const;
    // Whether the inspector says this; spaces don't count.
    [[nodiscard]] bool reads(const std::string& text) const;

    [[nodiscard]] const Run& run() const { return *d.session.shown().run; }
    [[nodiscard]] float value(const std::string& tensor, const Cell& cell) const {
        return run().value(tensor).at(cell);
    }

    Driver d;
    int gestures = 0;

private:
    [[nodiscard]] float inspector_edge() const;
};

}  // namespace decoderscope::testing
