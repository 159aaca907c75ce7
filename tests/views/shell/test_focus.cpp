// Everything by keyboard: Tab leads from control to control, Enter and Space press, and a frame shows where.
#include "app/views/lessons/lessons_panel.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>

using namespace decoderscope::testing;

namespace {

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
    d.press(Key::tab);
    CHECK(d.state.focus.visible());
    CHECK(framed(d) > without);
    // The first control is the model's menu.
    d.press(Key::enter);
    CHECK(d.sees("Savethesession"));
    d.press(Key::escape);
    CHECK_FALSE(d.sees("Savethesession"));
    d.click({640, 790});
    CHECK_FALSE(d.state.focus.visible());
}

TEST_CASE("Tab goes through all controls and back, Shift+Tab the other way") {
    Driver d("reverse");
    d.press(Key::tab);
    // Behind undo and redo comes Learn, which Space presses rather than play.
    for (int i = 0; i < 3; ++i) d.press(Key::tab);
    d.press(Key::space);
    CHECK_FALSE(d.state.playing);
    CHECK(lesson_panel::lessons_are_open(d.state));
    d.press(Key::f7);
    for (int i = 0; i < 4; ++i) d.press(Key::tab, with_shift);  // from the first to the last
    CHECK(d.state.focus.visible());
    d.press(Key::tab);
    d.press(Key::enter);
    CHECK(d.sees("Savethesession"));
}

TEST_CASE("arrows step even where a control has the focus, and Space plays where none has") {
    Driver d("reverse");
    d.press(Key::tab);
    const std::string step = d.session.cursor().step;
    d.press(Key::right);
    CHECK(d.session.cursor().step != step);
    d.press(Key::escape);
    CHECK_FALSE(d.state.focus.visible());
    d.press(Key::space);
    CHECK(d.state.playing);
}

TEST_CASE("in a dialog Tab stays in the dialog, and its fields and buttons are reached") {
    Driver d("reverse");
    d.press(Key::comma, with_ctrl);
    REQUIRE(d.state.dialog == Dialog::settings);
    for (int i = 0; i < 3; ++i) d.press(Key::tab);  // as the system, dark, light
    d.press(Key::enter);
    CHECK_FALSE(d.state.is_dark());
    CHECK(d.state.dialog == Dialog::settings);
    d.press(Key::escape);
    d.press(Key::s, with_ctrl_shift);
    REQUIRE(d.state.dialog == Dialog::save_session);
    // From the field, where the cursor is, to its buttons.
    for (int i = 0; i < 3; ++i) d.press(Key::tab);
    d.press(Key::enter);  // Cancel
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
    d.press(Key::right, alt);
    REQUIRE(d.session.cursor().cell);
    CHECK(cell() == std::pair<Index, Index>(0, 0));
    d.press(Key::right, alt);
    d.press(Key::down, alt);
    d.press(Key::down, alt);
    CHECK(cell() == std::pair<Index, Index>(2, 1));
    d.press(Key::up, alt);
    d.press(Key::left, alt);
    d.press(Key::left, alt);  // stops at the edge
    CHECK(cell() == std::pair<Index, Index>(1, 0));
    CHECK(d.sees("blocks.1.cross_attn.pattern"));
}
