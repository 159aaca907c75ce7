// The configuration as what-ifs of the whole model: each key that fits, changed in its line.
#include "app/views/tabs/compare/tab.h"
#include "tests/catch.h"
#include "tests/views/driver.h"
#include "tests/views/layout_check.h"

using namespace decoderscope::testing;

namespace {

void open_configuration(Driver& d) {
    d.press(Key::p, with_ctrl);
    d.hands.type("what if the whole model");
    d.settle();
    d.press(Key::enter);
    d.settle();
    REQUIRE(d.state.dialog == Dialog::configuration);
}

// Types a key's value in its line, from the keyboard.
void type_value(Driver& d, std::string_view key, std::string_view value) {
    const auto at = find_text(d.seen(), key);
    REQUIRE(at);
    d.click({at->low.x + 250.0F, at->middle().y});
    d.type_over(value);
}

}  // namespace

TEST_CASE(
    "a window of 4 is typed in the list of keys, undone as one change, and Diff names the first step that differs") {
    Driver d("reverse", 1.0F, {1280, 2000});
    open_configuration(d);
    CHECK(d.sees("keysoftheconfigurationcanbechangedhere"));
    type_value(d, "sliding_window", "many");
    CHECK(d.sees("sliding_window:expected"));
    d.press(Key::enter);
    CHECK(d.session.scenario().overrides().empty());
    d.type_over("4");
    CHECK_FALSE(d.sees("sliding_window:expected"));
    d.press(Key::enter);
    d.settle();
    CHECK(d.session.scenario().config().sliding_window == 4);
    REQUIRE(d.click_text("whatitchanges"));
    CHECK(d.state.tab == "compare");
    CHECK(d.state.dialog == Dialog::none);
    d.settle();
    d.settle();
    const auto& diff = d.state.part<views::compare::CompareTabState>();
    REQUIRE(diff.drawn);
    const Comparison& comparison = diff.drawn.answer()->comparison;
    REQUIRE(comparison.first);
    CHECK(comparison.tensors[*comparison.first].name == "blocks.0.attn.mask");
    CHECK(d.sees("Thefirsttodifferisblocks.0.attn.mask,byupto1at"));
    d.press(Key::z, with_ctrl);
    CHECK(d.session.scenario().config().sliding_window == 0);
    CHECK_FALSE(d.session.can_undo());
}

TEST_CASE("switches, lists and the model's own value are a click") {
    Driver d("reverse", 1.0F, {1280, 2000});
    open_configuration(d);
    d.apply(command::SetOption{"causal", "false"});
    CHECK_FALSE(d.session.scenario().config().causal);
    REQUIRE(d.click_text("themodel’sown:true"));
    CHECK(d.session.scenario().config().causal);
    d.press(Key::escape);
    CHECK(d.state.dialog == Dialog::none);
}

TEST_CASE("the list of keys fits every screen") {
    for (const Screen& screen : kScreens) {
        INFO(screen.size.x << " x " << screen.size.y << ", text " << screen.scale);
        Driver d("reverse", screen.scale, screen.size);
        open_configuration(d);
        check_dialog(d, screen.size, "What if the whole model …");
    }
}
