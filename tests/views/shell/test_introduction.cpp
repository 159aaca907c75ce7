// The first minute: a strip that says what the model does and offers three things to try.
#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/sanitized.h"
#include "tests/views/driver.h"
#include "tests/views/strip_check.h"

#include <algorithm>

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::load;
using namespace decoderscope::views::shell;
using namespace decoderscope::views;
using namespace decoderscope::testing;

namespace {

// A window at its first start.
void start(Driver& d) {
    d.state.settings.introduction_closed = false;
    d.settle();
}

}  // namespace

TEST_CASE("at the first start the window says what the model does, and each of three offers leads somewhere") {
    for (const BundledModel& bundled : testing::looked_at(bundled_models(), 4)) {
        Driver d(bundled.name);
        start(d);
        INFO(bundled.name);
        CHECK(d.sees("Try:"));
        const std::string description = without_spaces(bundled.description.english());
        CHECK(d.sees(description.substr(0, 30)));
        const auto offers = suggestions(d.session);
        REQUIRE(offers.size() == 3);
        for (std::size_t i = 0; i < offers.size(); ++i) {
            Driver fresh(bundled.name);
            start(fresh);
            const auto before = std::tuple(fresh.session.cursor(), fresh.session.changes(), fresh.state.tab);
            INFO(offers[i].title);
            REQUIRE(fresh.click_text(without_spaces(offers[i].title)));
            CHECK(std::tuple(fresh.session.cursor(), fresh.session.changes(), fresh.state.tab) != before);
            if (!offers[i].tab.empty()) CHECK(fresh.state.tab == offers[i].tab);
            CHECK_FALSE((fresh.session.message() && fresh.session.message()->failed));
            CHECK_FALSE(fresh.session.stale());
        }
    }
}

TEST_CASE("the second letter of a reversed word: the offer selects the cell and explains it") {
    Driver d("reverse");
    start(d);
    REQUIRE(d.click_text("Seewherethesecondlettercomesfrom"));
    CHECK(d.state.tab == kStepTab);
    CHECK(d.session.cursor().step == "blocks.1.cross_attn.pattern");
    CHECK(d.session.cursor().cell == Cell{0, 3, 1, 6});
    CHECK(d.sees("Thehighlightedrowwritesthesecondletter"));
    CHECK(d.sees("blocks.1.cross_attn.pattern[0,3,1,6]"));
    REQUIRE(d.click_text("Switchofftheheadsthatreverse"));
    CHECK(d.session.scenario().edits.size() == 4);
    CHECK(d.sees("✓Switchofftheheadsthatreverse"));
    CHECK(d.state.tab == "heads");
    CHECK(d.sees("of20positions"));
}

TEST_CASE("a second suggestion takes the place of the first, and each is one step to undo") {
    Driver d("reverse");
    start(d);
    REQUIRE(d.click_text("Switchofftheheadsthatreverse"));
    CHECK(d.session.scenario().edits.size() == 4);
    const auto changed = d.session.changes();
    for (const Suggestion& other : suggestions(d.session))
        if (!other.done && other.commands.size() > 2) REQUIRE(d.click_text(without_spaces(other.title)));
    CHECK(d.session.scenario().edits.empty());
    CHECK(d.session.changes() != changed);
    d.hands.tap(Key::z, with_ctrl);
    d.settle();
    CHECK(d.session.scenario().edits.size() == 4);
    d.hands.tap(Key::z, with_ctrl);
    d.settle();
    CHECK(d.session.scenario().edits.empty());
}

TEST_CASE("the strip is closed by its cross, stays closed, and comes back from F1 and the palette") {
    Driver d;
    start(d);
    const auto cross = std::ranges::find(d.seen(), "×", &DrawnText::text);
    REQUIRE(cross != d.seen().end());
    d.hands.click(cross->middle().x, cross->middle().y);
    d.settle();
    CHECK(d.state.settings.introduction_closed);
    CHECK_FALSE(d.sees("Try:"));
    d.hands.tap(Key::f1);
    d.settle();
    REQUIRE(d.click_text("Whattotrywiththismodel"));
    CHECK(d.sees("Try:"));
    d.state.settings.introduction_closed = true;
    d.hands.tap(Key::p, with_ctrl);
    d.settle();
    d.hands.type("worth trying");
    d.settle();
    d.hands.tap(Key::enter);
    d.settle();
    CHECK(d.sees("Try:"));
}

TEST_CASE("the strip fits at every size, and what is below it keeps its room") {
    for (const auto& [scale, size] : kWindows) {
        for (const BundledModel& bundled : testing::looked_at(bundled_models(), 4)) {
            Driver d(bundled.name, scale, size);
            start(d);
            INFO(bundled.name << " at " << size.x << " x " << size.y << ", text " << scale);
            const auto lead = find_text(d.seen(), "Try:");
            REQUIRE(lead);
            // From the description to the last offer.
            const auto title = find_text(d.seen(), without_spaces(bundled.name + ":"));
            REQUIRE(title);
            const auto last = find_text(d.seen(), without_spaces(suggestions(d.session).back().title));
            REQUIRE(last);
            check_strip(d, {{0, title->low.y - 2}, {size.x, last->high.y + 8 * scale}});
            CHECK(last->high.y < size.y * 0.45F);
        }
    }
}
