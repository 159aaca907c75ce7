#include "app/window/composition.h"
#include "tests/catch.h"

using namespace decoderscope::testing;
using namespace decoderscope::window;

namespace {

// Presses a key; without an input method its character follows at once.
bool press(Composition& composition, Key key, bool typed, Mods mods = {}) {
    const bool taken = composition.takes(key, mods);
    if (typed) composition.done();
    return taken;
}

}  // namespace

TEST_CASE("without an input method no key is taken from the window", "[window]") {
    Composition composition;
    for (const Key key : {Key::n, Key::i, Key::space}) CHECK_FALSE(press(composition, key, true));
    for (const Key key : {Key::backspace, Key::enter, Key::escape, Key::left, Key::tab})
        CHECK_FALSE(press(composition, key, false));
    // A shortcut has no character.
    CHECK_FALSE(press(composition, Key::p, false, with_ctrl));
    CHECK_FALSE(press(composition, Key::enter, false));
}

TEST_CASE("while text is composed, the keys that correct and choose are the input method's", "[window]") {
    Composition composition;
    CHECK_FALSE(press(composition, Key::n, false));
    CHECK_FALSE(press(composition, Key::i, false));
    CHECK(press(composition, Key::down, false));
    CHECK(press(composition, Key::backspace, false));  // "n" is left
    CHECK(press(composition, Key::backspace, false));
    CHECK_FALSE(press(composition, Key::backspace, false));  // nothing is: this one deletes in the field
    CHECK_FALSE(press(composition, Key::h, false));
    CHECK(press(composition, Key::space, false));
    composition.done();  // the characters that were chosen
    CHECK_FALSE(press(composition, Key::enter, false));
}

TEST_CASE("Escape and Enter end what is composed, and mean the window after that", "[window]") {
    for (const Key key : {Key::escape, Key::enter}) {
        Composition composition;
        CHECK_FALSE(press(composition, Key::n, false));
        CHECK(press(composition, key, false));
        CHECK_FALSE(press(composition, key, false));
    }
}
