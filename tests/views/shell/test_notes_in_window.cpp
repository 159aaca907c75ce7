// Notes as a person writes, reads, finds and removes them.
#include "tests/catch.h"
#include "tests/views/driver.h"

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::views;
using decoderscope::testing::Driver;

TEST_CASE("J pins a note to the selected cell; it is read under the mouse and in the list, found, and removed") {
    Driver d;
    const Cell cell = {0, 0, 3, 2};
    d.session.apply(command::SelectCell{cell});
    d.settle();
    d.hands.tap(Key::j);
    d.settle();
    d.hands.type("exactly here");
    d.hands.tap(Key::enter);
    d.settle();
    CHECK(d.session.notes() == Notes{{"blocks.0.attn.pattern", cell, "exactly here"}});
    CHECK(d.sees("exactlyhere"));
    CHECK(d.sees("Changethenote"));

    d.forget();
    d.session.apply(command::GoTo{"logits"});
    d.settle();
    CHECK(d.sees("1note"));
    REQUIRE(d.click_text("blocks.0.attn.pattern[0,0,3,2]"));
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");
    CHECK(d.session.cursor().cell == cell);

    d.session.apply(command::GoTo{"logits"});
    d.settle();
    d.hands.tap(Key::p, with_ctrl);
    d.settle();
    d.hands.type("exactly h");
    d.settle();
    d.hands.tap(Key::enter);
    d.settle();
    CHECK(d.session.cursor().step == "blocks.0.attn.pattern");

    REQUIRE(d.click_text("Changethenote"));
    d.settle();
    CHECK(d.sees("Noteonblocks"));
    d.press(Key::a, with_ctrl);
    d.press(Key::backspace);
    d.press(Key::enter);
    CHECK(d.session.notes().empty());
    d.press(Key::z, with_ctrl);
    CHECK(d.session.notes().size() == 1);
}

TEST_CASE("a note that is left without Enter is given up, and typing it does nothing else") {
    Driver d;
    d.hands.tap(Key::j);
    d.settle();
    d.hands.type("hmngc");
    d.settle();
    CHECK(d.state.tab == "step");
    d.hands.tap(Key::escape);
    d.settle();
    CHECK(d.session.notes().empty());
    d.hands.tap(Key::h);
    d.settle();
    CHECK(d.state.tab == "heads");
}
