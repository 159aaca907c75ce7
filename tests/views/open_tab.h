#pragma once

#include "tests/catch.h"
#include "tests/views/driver.h"

#include <string_view>

namespace decoderscope::testing {

using namespace decoderscope::views;

// Opens a tab by its key.
inline void open_tab(Driver& d, Key key, std::string_view tab) {
    d.press(key);
    REQUIRE(d.state.tab == tab);
}

// Clicks on the last piece of text that begins like this, or has it, as lists and menus are drawn above the rest.
inline bool click_last(Driver& d, std::string_view text) {
    const DrawnText *begins = nullptr, *has = nullptr;
    for (const DrawnText& piece : d.seen()) {
        if (piece.text.starts_with(text)) begins = &piece;
        if (piece.text.find(text) != std::string::npos) has = &piece;
    }
    const DrawnText* found = begins != nullptr ? begins : has;
    if (found == nullptr) return false;
    const ImVec2 at = found->middle_of(text);
    d.hands.click(at.x, at.y);
    d.settle();
    return true;
}

// Chooses a row of a list that is opened by its text.
inline bool choose_from(Driver& d, std::string_view list, std::string_view row) {
    return d.click_text(list) && click_last(d, row);
}

// Chooses what the Compare tab compares this run with.
inline bool compare_with(Driver& d, std::string_view b) { return choose_from(d, "B:", b); }

}  // namespace decoderscope::testing
