// The mark that tells whether the laws of every forward pass hold, and the dialog that it opens.
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

#include <algorithm>
#include <iterator>

using namespace decoderscope::testing;
using namespace decoderscope::core::checks;
using namespace decoderscope::core::train;

namespace {

void break_a_row(Driver& d) { d.apply(command::TypeOver{"blocks.1.attn.pattern", {0, 2, 3, 1}, 3.0F}); }

// What is shown now and wasn't before.
std::vector<DrawnText> added(const std::vector<DrawnText>& before, const std::vector<DrawnText>& now) {
    std::vector<DrawnText> more;
    std::ranges::copy_if(now, std::back_inserter(more), [&](const DrawnText& piece) {
        return std::ranges::none_of(before, [&](const DrawnText& old) {
            return old.text == piece.text && old.low.x == piece.low.x && old.low.y == piece.low.y;
        });
    });
    return more;
}

}  // namespace

TEST_CASE("the mark is there while a check fails, and says so in words") {
    Driver d;
    CHECK_FALSE(d.sees("failing"));
    break_a_row(d);
    CHECK(d.sees("✗1of5failing"));
    d.apply(command::Undo{});
    CHECK_FALSE(d.sees("failing"));
    d.apply(command::SetOption{"causal", "false"});
    CHECK_FALSE(d.sees("failing"));
}

TEST_CASE(
    "a check of one's own is written in the dialog, counted by the mark, and its first failing cell is a click away") {
    Driver d("reverse");
    d.press(Key::v);
    REQUIRE(d.click_text("Addacheckofyourown"));
    REQUIRE(d.state.dialog == Dialog::formula);
    d.hands.type("pattern.max(-1).values < 0.9");
    d.settle();
    d.press(Key::enter);
    REQUIRE(d.state.dialog == Dialog::none);
    REQUIRE(d.session.scenario().edits.size() == 1);
    CHECK(std::get<AddRow>(d.session.scenario().edits[0]).must_hold);
    CHECK(d.sees("✗1of6failing"));
    const Invariant own = d.session.invariants()->invariants->all.back();
    d.press(Key::v);
    REQUIRE(d.click_text("→" + own.step));
    CHECK(d.session.cursor().step == own.step);
    CHECK(d.session.cursor().cell == own.cell);
    CHECK(d.session.shown().run->value(own.step).at(own.cell) == 0.0F);
    // A laxer one holds; without the flag it is a row like any other.
    d.press(Key::equal);
    d.type_over("pattern.max(-1).values < 2");
    d.press(Key::enter);
    const auto counted = [&] { return d.session.invariants()->invariants->count(Verdict::kept); };
    CHECK(counted() == 6);
    CHECK_FALSE(d.sees("failing"));
    d.press(Key::equal);
    REQUIRE(d.click_text("Itmusthold"));
    REQUIRE(d.click_text("Changetherow"));
    CHECK(counted() == 5);
    d.press(Key::z, with_ctrl);
    CHECK(counted() == 6);
}

TEST_CASE("a step that is rewritten keeps what it promised: the checks say what breaks") {
    Driver d("reverse");
    const std::string step = "blocks.1.attn.pattern";
    d.apply(command::MakeEdit{RewriteStep{step, "sigmoid(x)"}, {step}});
    CHECK(d.session.invariants()->invariants->of(Law::pattern_rows).verdict == Verdict::broken);
    CHECK(d.session.invariants()->invariants->of(Law::pattern_rows).step == step);
    CHECK(d.sees("failing"));
}

TEST_CASE("the mark, its key and the palette open what was measured; a click goes to the cell that breaks it") {
    Driver d;
    break_a_row(d);
    REQUIRE(d.click_text("failing"));
    REQUIRE(d.state.dialog == Dialog::checks);
    const Invariants& laws = *d.session.invariants()->invariants;
    for (const Invariant& law : laws.all) {
        std::string title = title_of(law);
        std::erase(title, ' ');
        CHECK(d.sees(title));
    }
    CHECK(d.sees("→blocks.1.attn.pattern[0,2,3,1]"));
    CHECK(d.sees("theworstsumsto3"));
    d.forget();
    REQUIRE(d.click_text("→blocks.1.attn.pattern[0,2,3,1]"));
    REQUIRE(d.last<command::Follow>());
    CHECK(d.session.cursor().step == "blocks.1.attn.pattern");
    CHECK(d.session.cursor().cell == Cell{0, 2, 3, 1});
    CHECK(d.session.cursor().place.head == 2);
    CHECK(d.state.tab == "step");
    CHECK(d.state.dialog == Dialog::none);

    d.press(Key::v);
    CHECK(d.state.dialog == Dialog::checks);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
    d.press(Key::p, with_ctrl);
    d.hands.type("checks");
    d.settle();
    d.press(Key::enter);
    CHECK(d.state.dialog == Dialog::checks);
}

TEST_CASE("in the dialog of the checks text neither overlaps nor leaves the window") {
    for (const Screen screen : kScreens) {
        for (const BundledModel& model : bundled_models()) {
            Driver d(model.name, screen.scale, screen.size);
            const std::string pattern = "blocks.0.attn.pattern";
            d.session.apply(command::TypeOver{pattern, {0, 0, 0, 0}, std::numeric_limits<float>::quiet_NaN()});
            d.apply(command::TypeOver{pattern, {0, 0, 1, 2}, 0.5F});
            INFO(model.name << " at scale " << screen.scale);
            const std::vector<DrawnText> before = d.seen();
            d.press(Key::v);
            const std::vector<DrawnText> dialog = added(before, d.seen());
            CHECK(dialog.size() > 10);
            for (std::size_t a = 0; a < dialog.size(); ++a) {
                CHECK(dialog[a].high.x <= screen.size.x);
                CHECK(dialog[a].high.y <= screen.size.y);
                for (std::size_t b = a + 1; b < dialog.size(); ++b) {
                    const float wide =
                        std::min(dialog[a].high.x, dialog[b].high.x) - std::max(dialog[a].low.x, dialog[b].low.x);
                    const float high =
                        std::min(dialog[a].high.y, dialog[b].high.y) - std::max(dialog[a].low.y, dialog[b].low.y);
                    INFO(dialog[a].text << " and " << dialog[b].text);
                    CHECK((wide <= 1.0F || high <= 2.0F));
                }
            }
        }
    }
}
