// The first minute: a strip that says what the model does and offers three things to try.
#include "app/views/frame/tab.h"
#include "app/views/inspector/inspector.h"
#include "app/views/shell/workspace.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>

using namespace decoderscope::testing;
using namespace decoderscope::views::shell;

namespace {

// A window at its first start.
void start(Driver& d) {
    d.state.settings.introduction_closed = false;
    d.settle();
}

void try_out(Driver& d, const std::string& title) {
    REQUIRE(d.click_label("Try▾"));
    REQUIRE(d.click_text(without_spaces(title).substr(0, 24)));
}

}  // namespace

TEST_CASE("the first screen has few things to press, and rings the one to begin with") {
    Driver d("words");
    start(d);
    d.state.document.collect();
    d.settle();
    // What stands for a token or a step of the text says what it is, and is no control of the window.
    const auto is_control = [](const DocumentItem& item) {
        return (item.kind == DocumentItem::Kind::button || item.kind == DocumentItem::Kind::field) && !item.disabled &&
               item.part != "strip" && !item.text.starts_with("“") && !item.text.ends_with("(Ctrl+Z)") &&
               !item.text.ends_with("(Ctrl+Y)");
    };
    CHECK(std::ranges::count_if(d.state.document.items(), is_control) <= 20);
    REQUIRE(d.state.ringed);
    const Tensor& weights = d.session.shown().run->value(d.session.step().id);
    const Cell ringed = d.state.ringed->second;
    for (Index key = 0; key < weights.dim(3); ++key)
        CHECK(weights.at(ringed) >= weights.at(Cell{ringed[0], ringed[1], weights.dim(2) - 1, key}));
    d.apply(command::SelectCell{ringed});
    CHECK_FALSE(d.sees("Whatyouarelookingat"));
    CHECK(d.sees("looksat"));
}

TEST_CASE("at the first start the window says what the model does, and each of three things to try leads somewhere") {
    for (const BundledModel& bundled : testing::looked_at(bundled_models(), 4)) {
        Driver d(bundled.name);
        start(d);
        INFO(bundled.name);
        CHECK(d.sees("Whatyouarelookingat"));
        const std::string description = without_spaces(bundled.description.english());
        CHECK(d.sees(description.substr(0, 16)));
        const auto offers = inspector::suggestions(d.session);
        REQUIRE(offers.size() == 3);
        for (std::size_t i = 0; i < offers.size(); ++i) {
            Driver fresh(bundled.name);
            start(fresh);
            const auto before = std::tuple(fresh.session.cursor(), fresh.session.changes(), fresh.state.tab);
            INFO(offers[i].title);
            try_out(fresh, offers[i].title);
            CHECK(std::tuple(fresh.session.cursor(), fresh.session.changes(), fresh.state.tab) != before);
            if (!offers[i].tab.empty()) CHECK(fresh.state.tab == find_tab(offers[i].tab)->id);
            CHECK_FALSE((fresh.session.message() && fresh.session.message()->failed));
            CHECK_FALSE(fresh.session.stale());
        }
    }
}

TEST_CASE("the second letter of a reversed word: the offer selects the cell and explains it") {
    Driver d("reverse");
    start(d);
    try_out(d, "See where the second letter comes from");
    CHECK(d.state.tab == kStepTab);
    CHECK(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    CHECK(d.session.cursor().cell == Cell{0, 3, 1, 6});
    CHECK(d.sees("Thehighlightedrowwritesthesecondletter"));
    CHECK(d.sees("blocks.1.cross_attn.pattern[0,3,1,6]"));
    try_out(d, "Switch off the heads that reverse");
    CHECK(d.session.scenario().edits.size() == 4);
    CHECK(d.state.tab == "heads");
    CHECK(d.sees("of20positions"));
}

TEST_CASE("a second suggestion takes the place of the first, and each is one step to undo") {
    Driver d("reverse");
    start(d);
    try_out(d, "Switch off the heads that reverse");
    CHECK(d.session.scenario().edits.size() == 4);
    const auto changed = d.session.changes();
    for (const Suggestion& other : inspector::suggestions(d.session))
        if (!other.done && other.commands.size() > 2) try_out(d, other.title);
    CHECK(d.session.scenario().edits.empty());
    CHECK(d.session.changes() != changed);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.size() == 4);
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("it is closed, stays closed, and comes back from Try, from F1 and from the palette, where the model opened") {
    Driver d;
    start(d);
    const std::string opened = d.session.cursor().step;
    const auto is_there = [&] { return d.sees("Thepictureisoneof"); };
    REQUIRE(is_there());
    d.press(Key::escape);
    CHECK(d.state.settings.introduction_closed);
    CHECK_FALSE(is_there());
    d.press(Key::end);
    REQUIRE(d.click_label("Try▾"));
    REQUIRE(d.click_text("Whatyouarelookingat"));
    CHECK(is_there());
    CHECK(d.session.cursor().step == opened);
    d.press(Key::escape);
    d.press(Key::f1);
    REQUIRE(d.click_text("Whattotrywiththismodel"));
    CHECK(is_there());
    d.press(Key::escape);
    d.press(Key::p, with_ctrl);
    d.hands.type("worth trying");
    d.settle();
    d.press(Key::enter);
    CHECK(is_there());
}

TEST_CASE("it fits at every size") {
    for (const auto& [scale, size] : kScreens) {
        for (const BundledModel& bundled : testing::looked_at(bundled_models(), 4)) {
            Driver d(bundled.name, scale, size);
            start(d);
            INFO(bundled.name << " at " << size.x << " x " << size.y << ", text " << scale);
            check_layout(d, size);
            if (d.state.inspector.drawn <= 0.0F) continue;
            CHECK(d.sees("Whatyouarelookingat"));
        }
    }
}
