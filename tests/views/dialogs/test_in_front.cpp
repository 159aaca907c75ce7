// Only what is in front is reached: a click beside a dialog, a menu or a list closes it and does nothing else, and the
// wheel scrolls nothing behind it.
#include "app/views/frame/tab.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace decoderscope::testing;

namespace {

// All that is seen, with the pointer where it points at nothing.
std::vector<std::tuple<std::string, float, float>> screen_of(Driver& d) {
    d.point({1, 1});
    std::vector<std::tuple<std::string, float, float>> seen;
    for (const DrawnText& piece : d.seen()) seen.emplace_back(piece.text, piece.low.x, piece.low.y);
    for (const Area& picture : d.pictures()) seen.emplace_back("a picture", picture.low.x, picture.low.y);
    return seen;
}

constexpr std::array kShown = {Dialog::keys,        Dialog::glossary,   Dialog::formulas,      Dialog::palette,
                               Dialog::export_file, Dialog::open_model, Dialog::save_session,  Dialog::unsaved,
                               Dialog::settings,    Dialog::checks,     Dialog::configuration, Dialog::talk};

// Opens one of the dialogs, or, beyond them, a menu.
void open(Driver& d, std::size_t number) {
    if (number < kShown.size())
        d.state.show(kShown[number]);
    else
        REQUIRE(d.click_text("reverse▾"));
    d.settle();
    REQUIRE(compat::open_popups() == 1);
}

}  // namespace

TEST_CASE("a click beside a dialog or a menu closes it and does nothing else, and the wheel turns nothing behind it") {
    std::size_t number = 0, beside = 0;
    for (const ImVec2 size : {ImVec2{1280, 800}, ImVec2{1024, 700}})
        for (const Tab& tab : testing::looked_at(tabs(), 4)) {
            Driver d("reverse", 1.0F, size);
            d.state.tab = tab.id;
            d.apply(command::GoTo{"blocks.1.cross_attn.pattern"});
            const auto before = screen_of(d);
            const auto untouched = std::tuple(d.session.changes(), d.session.cursor(), d.state.tab);
            for (float x = 40; x < size.x; x += 271)
                for (const float y : {20.0F, 120.0F, 430.0F, size.y - 15}) {
                    open(d, number++ % (kShown.size() + 1));
                    if (compat::popups_under({x, y}) > 0) {
                        d.press(Key::escape);
                        continue;
                    }
                    ++beside;
                    INFO(tab.id << ", dialog " << (number - 1) % (kShown.size() + 1) << ", " << x << ", " << y);
                    d.hands.push(MouseMove{x, y});
                    d.hands.push(Wheel{0.0F, -2.0F});
                    d.settle();
                    CHECK(compat::open_popups() == 1);
                    d.click({x, y}, number % 3 == 0 ? Button::right : Button::left);
                    CHECK(compat::open_popups() == 0);
                    CHECK(d.state.dialog == Dialog::none);
                    CHECK(untouched == std::tuple(d.session.changes(), d.session.cursor(), d.state.tab));
                    CHECK(before == screen_of(d));
                }
        }
    CHECK(beside > 150);
}

TEST_CASE("a click beside a list in a dialog closes the list alone") {
    Driver d("reverse");
    d.state.show(Dialog::configuration);
    d.settle();
    const auto list = std::ranges::find_if(
        d.seen(), [](const DrawnText& piece) { return piece.text == "gelu" || piece.text == "relu"; });
    REQUIRE(list != d.seen().end());
    d.click(list->middle());
    REQUIRE(compat::open_popups() == 2);
    const auto heading = find_text(d.seen(), "Whatifthewholemodel");
    REQUIRE(heading);
    d.click(heading->middle());
    CHECK(compat::open_popups() == 1);
    CHECK(d.state.dialog == Dialog::configuration);
    d.click({5, 5});
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("Escape closes a menu, and nothing else") {
    std::size_t menus = 0;
    for (const Tab& tab : testing::looked_at(tabs(), 4)) {
        Driver d("reverse");
        d.state.tab = tab.id;
        d.settle();
        const std::vector<DrawnText> seen = d.seen();
        for (const DrawnText& piece : seen) {
            if (!piece.text.ends_with("▾")) continue;
            INFO(tab.id << ": " << piece.text);
            d.click(piece.middle());
            if (compat::open_popups() != 1) continue;
            ++menus;
            d.press(Key::escape);
            CHECK(compat::open_popups() == 0);
            CHECK(d.state.tab == tab.id);
            CHECK(d.session.changes() == 0);
        }
    }
    CHECK(menus > 6);
}
