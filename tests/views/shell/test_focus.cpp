// Everything by keyboard: Tab leads from control to control, Enter and Space press, and a frame shows where.
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>

using namespace decoderscope;
using decoderscope::testing::Driver;

namespace {

void tap(Driver& d, Key key, Mods mods = {}) {
    d.hands.tap(key, mods);
    d.settle();
}

// How much is drawn in the colour of the focus's frame.
int framed(const Driver& d) {
    const ImU32 accent = make_theme(d.state.is_dark()).accent;
    const ImDrawData& frame = *ImGui::GetDrawData();
    int count = 0;
    for (int l = 0; l < frame.CmdListsCount; ++l)
        for (const ImDrawVert& vertex : frame.CmdLists[l]->VtxBuffer) count += vertex.col == accent ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("Tab shows where the keyboard is, Enter presses, and the mouse hides the frame") {
    Driver d("reverse");
    const int without = framed(d);
    tap(d, Key::tab);
    CHECK(d.state.focus.visible());
    CHECK(framed(d) > without);
    // The first control is the model's menu.
    tap(d, Key::enter);
    CHECK(d.sees("Savethesession"));
    tap(d, Key::escape);
    CHECK_FALSE(d.sees("Savethesession"));
    d.hands.click(640, 790);
    d.settle();
    CHECK_FALSE(d.state.focus.visible());
}

TEST_CASE("Tab goes through all controls and back, Shift+Tab the other way") {
    Driver d("reverse");
    tap(d, Key::tab);
    // The second control is Pre-Norm, the third Post-Norm, which Space presses rather than play.
    tap(d, Key::tab);
    tap(d, Key::tab);
    tap(d, Key::space);
    CHECK_FALSE(d.state.playing);
    CHECK_FALSE(d.session.scenario().config().norm_first);
    tap(d, Key::tab, with_shift);
    tap(d, Key::space);
    CHECK(d.session.scenario().config().norm_first);
    tap(d, Key::tab, with_shift);
    tap(d, Key::tab, with_shift);  // from the first to the last
    CHECK(d.state.focus.visible());
    tap(d, Key::tab);
    tap(d, Key::enter);
    CHECK(d.sees("Savethesession"));
}

TEST_CASE("arrows step even where a control has the focus, and Space plays where none has") {
    Driver d("reverse");
    tap(d, Key::tab);
    const std::string step = d.session.cursor().step;
    tap(d, Key::right);
    CHECK(d.session.cursor().step != step);
    tap(d, Key::escape);
    CHECK_FALSE(d.state.focus.visible());
    tap(d, Key::space);
    CHECK(d.state.playing);
}

TEST_CASE("in a dialog Tab stays in the dialog, and its fields and buttons are reached") {
    Driver d("reverse");
    tap(d, Key::comma, with_ctrl);
    REQUIRE(d.state.dialog == Dialog::settings);
    tap(d, Key::tab);
    tap(d, Key::tab);  // Dark, then Light
    tap(d, Key::enter);
    CHECK_FALSE(d.state.is_dark());
    CHECK(d.state.dialog == Dialog::settings);
    tap(d, Key::escape);
    tap(d, Key::s, with_ctrl_shift);
    REQUIRE(d.state.dialog == Dialog::save_session);
    // From the field, where the cursor is, to its buttons.
    for (int i = 0; i < 3; ++i) tap(d, Key::tab);
    tap(d, Key::enter);  // Cancel
    CHECK(d.state.dialog == Dialog::none);
    CHECK(d.last<command::SaveSession>() == nullptr);
}

TEST_CASE("Alt and the arrows move the selected cell of the picture") {
    Driver d("reverse");
    const Mods alt = {.alt = true};
    const auto cell = [&] {
        const Cell& selected = *d.session.cursor().cell;
        return std::pair(selected[selected.size() - 2], selected.back());
    };
    tap(d, Key::right, alt);
    REQUIRE(d.session.cursor().cell);
    CHECK(cell() == std::pair<Index, Index>(0, 0));
    tap(d, Key::right, alt);
    tap(d, Key::down, alt);
    tap(d, Key::down, alt);
    CHECK(cell() == std::pair<Index, Index>(2, 1));
    tap(d, Key::up, alt);
    tap(d, Key::left, alt);
    tap(d, Key::left, alt);  // stops at the edge
    CHECK(cell() == std::pair<Index, Index>(1, 0));
    CHECK(d.sees("blocks.1.cross_attn.pattern"));
}
