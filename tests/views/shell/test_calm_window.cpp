// The window of the first hour: few tabs and switches, one row of tokens, the map's blocks; everything is a click away.
#include "app/core/lessons/library.h"
#include "app/core/run/output_moves.h"
#include "app/views/frame/tab.h"
#include "app/views/lessons/lessons_panel.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::check_layout;
using decoderscope::testing::DrawnText;
using decoderscope::testing::Driver;
using decoderscope::testing::kScreens;
using decoderscope::testing::Screen;
using decoderscope::testing::without_spaces;

namespace {

// As at the first start.
struct Newcomer {
    Driver d;

    explicit Newcomer(std::string_view model = "reverse", float scale = 1.0F, ImVec2 size = {1280, 800})
        : d(model, scale, size) {
        d.state.settings.calm = true;
        d.state.settings.introduction_closed = false;
        d.settle();
    }

    // The titles in the row of tabs.
    [[nodiscard]] std::vector<std::string> tabs() const {
        const Area stage = d.stage();
        std::vector<std::string> titles;
        for (const DrawnText& piece : d.seen())
            if (piece.high.y <= stage.low.y && piece.low.y > stage.low.y - 40.0F && piece.low.x >= stage.low.x &&
                piece.high.x <= stage.high.x)
                titles.push_back(piece.text);
        return titles;
    }
    [[nodiscard]] bool has_tab(std::string_view title) const {
        const std::vector<std::string> titles = tabs();
        return std::ranges::find(titles, title) != titles.end();
    }
    [[nodiscard]] std::ptrdiff_t lines_of_map() const {
        const Area stage = d.stage();
        return std::ranges::count_if(d.seen(), [&](const DrawnText& piece) {
            return piece.high.x < d.state.settings.map_width && piece.low.y > stage.low.y &&
                   piece.high.y < stage.high.y;
        });
    }
    [[nodiscard]] bool map_says(std::string_view text) const {
        return std::ranges::any_of(d.seen(), [&](const DrawnText& piece) {
            return piece.text == text && piece.high.x < d.state.settings.map_width;
        });
    }
};

// The tabs that have anything to show of this model.
std::size_t tabs_of(const Session& session) {
    return static_cast<std::size_t>(
        std::ranges::count_if(tabs(), [&](const Tab& tab) { return is_about(tab, session) && !tab.in_between; }));
}

}  // namespace

TEST_CASE("at the first start there are five tabs, folded blocks, one row of tokens, and no timeline") {
    Newcomer newcomer;
    const Driver& d = newcomer.d;
    CHECK(newcomer.tabs() == std::vector<std::string>{"Step", "Heads", "Masks", "Norms", "Generate", "More▾"});
    CHECK(newcomer.map_says("blocks.0"));
    CHECK(newcomer.map_says("blocks.1"));
    CHECK_FALSE(newcomer.map_says("pattern"));
    CHECK_FALSE(d.sees("Dropout"));
    CHECK_FALSE(d.sees("5of5checks"));
    CHECK(d.sees("step" + std::to_string(d.session.timeline_position() + 1) + "of" +
                 std::to_string(d.session.timeline().size()) + ":blocks.1.cross_attn.pattern"));
    const Area calm = d.stage();
    newcomer.d.press(Key::f8);
    CHECK_FALSE(d.state.settings.calm);
    CHECK(newcomer.tabs().size() == tabs_of(d.session));
    CHECK(newcomer.map_says("pattern"));
    CHECK(d.sees("5of5checks"));
    // Two lines of chips and one of predictions more above, the marks of all steps below.
    CHECK(calm.height() > d.stage().height() + 40.0F);
    newcomer.d.press(Key::f8);
    CHECK(d.state.settings.calm);
    CHECK(newcomer.tabs().size() == 6);
    CHECK(d.stage().height() == calm.height());
}

TEST_CASE("everything is one click away") {
    Newcomer newcomer;
    REQUIRE(newcomer.d.click_label("Fulllayout"));
    CHECK_FALSE(newcomer.d.state.is_calm());
    CHECK(newcomer.tabs().size() == tabs_of(newcomer.d.session));
    // The settings lead back.
    newcomer.d.press(Key::comma, with_ctrl);
    REQUIRE(newcomer.d.click_label("Simple"));
    CHECK(newcomer.d.state.is_calm());
}

TEST_CASE("a tab that was opened from behind More stays among the tabs") {
    Newcomer newcomer;
    REQUIRE(newcomer.d.click_label("More▾"));
    REQUIRE(newcomer.d.click_text(without_spaces("Diff: What changed?")));
    CHECK(newcomer.d.state.tab == "diff");
    CHECK(newcomer.has_tab("Diff"));
    newcomer.d.press(Key::s);
    CHECK(newcomer.d.state.tab == "step");
    CHECK(newcomer.has_tab("Diff"));
    CHECK_FALSE(newcomer.has_tab("Train"));
    CHECK(newcomer.d.state.settings.more_tabs == std::vector<std::string>{"diff"});
    // Its key opens one, too.
    newcomer.d.press(Key::k);
    CHECK(newcomer.has_tab("Causes"));
}

TEST_CASE("a block of the map opens where it is clicked") {
    Newcomer newcomer;
    Driver& d = newcomer.d;
    d.press(Key::down);  // no block is unfolded by moving
    CHECK_FALSE(newcomer.map_says("cross_attn.q"));
    const std::ptrdiff_t folded = newcomer.lines_of_map();
    const auto block = std::ranges::find_if(d.seen(), [&](const DrawnText& piece) {
        return piece.text == "blocks.0" && piece.high.x < d.state.settings.map_width;
    });
    REQUIRE(block != d.seen().end());
    d.click(block->middle());
    CHECK(d.session.step().block == "blocks.0");
    CHECK(newcomer.lines_of_map() > folded + 3);
}

TEST_CASE(
    "from the first start to the first changed prediction in one gesture, and the banner keeps what is left to try") {
    Newcomer newcomer;
    Driver& d = newcomer.d;
    REQUIRE(d.click_text(without_spaces("Switch off the heads that reverse")));
    const OutputMoves moves =
        moves_of(d.session.shown().unedited->value("logits"), d.session.shown().run->value("logits"),
                 d.session.shown().scenario.inputs.attention_mask, true);
    REQUIRE(moves.changed.size() > 1);
    CHECK(d.sees(std::to_string(moves.changed.size()) + "of" + std::to_string(moves.positions) + "positions:"));
    CHECK(d.sees("Try:"));  // the other two are still to be tried
    // The wrong ones are marked below the tokens.
    std::size_t wrong = 0;
    for (const DrawnText& piece : d.seen())
        for (std::size_t at = piece.text.find("✗"); at != std::string::npos; at = piece.text.find("✗", at + 1)) ++wrong;
    CHECK(wrong > 1);
}

TEST_CASE("the first click on a number says little: no entropy, three what-ifs, the others behind a link") {
    Newcomer newcomer;
    Driver& d = newcomer.d;
    d.session.apply(command::Follow{"blocks.1.cross_attn.pattern", {0, 3, 1, 6}});
    d.settle();
    CHECK(d.sees("without1/√d_head"));
    CHECK_FALSE(d.sees("fill−1e4"));
    CHECK_FALSE(d.sees("entropy"));
    CHECK(d.sees("Largest:"));
    REQUIRE(d.click_text("more…"));
    CHECK(d.sees("fill−1e4"));
    d.press(Key::f8);
    CHECK(d.sees("entropy"));
}

TEST_CASE("the first lesson is one click away; later the list is, which begins with the one that was left") {
    Newcomer newcomer;
    Driver& d = newcomer.d;
    const std::string button = without_spaces("Learn step by step");
    REQUIRE(d.click_text(button));
    CHECK(lesson_panel::lesson_beside(d.state) == core::lessons::lesson_cards().front().name);
    REQUIRE(d.click_text(without_spaces("All lessons")));
    CHECK(lesson_panel::lesson_beside(d.state).empty());
    lesson_panel::toggle_lessons(d.state);
    d.settle();
    REQUIRE(d.click_text(button));
    CHECK(lesson_panel::lesson_beside(d.state).empty());
}

TEST_CASE("a person who used the program before, or names a model, sees everything") {
    Driver d("reverse");
    CHECK_FALSE(d.state.is_calm());
    CHECK_FALSE(d.sees("More▾"));
    CHECK_FALSE(d.sees("Fulllayout"));
    d.state.settings.calm = true;
    d.state.everything = true;
    d.settle();
    CHECK_FALSE(d.sees("More▾"));
    CHECK(d.state.settings.calm);  // the next start is calm again
}

TEST_CASE("the calm window fits every screen") {
    for (const Screen& screen : kScreens) {
        INFO(screen.size.x << "x" << screen.size.y << " at " << screen.scale);
        Newcomer newcomer("reverse", screen.scale, screen.size);
        check_layout(newcomer.d, screen.size);
        REQUIRE(newcomer.d.click_text(without_spaces("Switch off the heads that reverse")));
        newcomer.d.point({2, screen.size.y - 2});  // away from what has a tooltip
        check_layout(newcomer.d, screen.size);
    }
}
