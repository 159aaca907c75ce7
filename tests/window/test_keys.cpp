#include "app/window/desktop/glfw_keys.h"
#include "tests/catch.h"

#include <GLFW/glfw3.h>

namespace decoderscope {

using namespace decoderscope::testing;
using namespace decoderscope::window;

// Without a display GLFW knows no keyboard layout, so the keys are where an English one has them.

TEST_CASE("GLFW's keys are ours", "[window]") {
    CHECK(key_of_glfw(GLFW_KEY_LEFT, 0) == Key::left);
    CHECK(key_of_glfw(GLFW_KEY_A, 0) == Key::a);
    CHECK(key_of_glfw(GLFW_KEY_Z, 0) == Key::z);
    CHECK(key_of_glfw(GLFW_KEY_0, 0) == digit_key(0));
    CHECK(key_of_glfw(GLFW_KEY_KP_9, 0) == digit_key(9));
    CHECK(key_of_glfw(GLFW_KEY_KP_ENTER, 0) == Key::enter);
    CHECK(key_of_glfw(GLFW_KEY_F1, 0) == Key::f1);
    CHECK(key_of_glfw(GLFW_KEY_F12, 0) == Key::f12);
    CHECK(key_of_glfw(GLFW_KEY_LEFT_CONTROL, 0) == Key::none);
    CHECK(key_of_glfw(GLFW_KEY_UNKNOWN, 0) == Key::none);
}

TEST_CASE("a key is what its layout prints on it, plus and minus with Ctrl even in the row of digits", "[window]") {
    CHECK(key_meant(GLFW_KEY_Q, "a", false) == Key::a);                // France
    CHECK(key_meant(GLFW_KEY_RIGHT_BRACKET, "+", true) == Key::plus);  // Germany
    CHECK(key_meant(GLFW_KEY_SLASH, "-", true) == Key::minus);
    CHECK(key_meant(GLFW_KEY_EQUAL, "=", true) == Key::equal);  // the United States
    CHECK(key_meant(GLFW_KEY_6, "-", true) == Key::minus);      // France, where 6 needs Shift
    CHECK(key_meant(GLFW_KEY_6, "-", false) == digit_key(6));
    CHECK(key_meant(GLFW_KEY_KP_ADD, "+", true) == Key::plus);
    CHECK(key_meant(GLFW_KEY_KP_SUBTRACT, "-", true) == Key::minus);
    CHECK(key_meant(GLFW_KEY_KP_0, "0", true) == digit_key(0));
    CHECK(key_meant(GLFW_KEY_LEFT, "", false) == Key::left);
}

TEST_CASE("a modifier's own press and release count at once", "[window]") {
    CHECK(mods_of_glfw(0, GLFW_KEY_LEFT_CONTROL, GLFW_PRESS) == with_ctrl);
    CHECK(mods_of_glfw(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_RELEASE) == Mods{});
    CHECK(mods_of_glfw(GLFW_MOD_CONTROL, GLFW_KEY_RIGHT_SHIFT, GLFW_PRESS) == with_ctrl_shift);
    CHECK(mods_of_glfw(GLFW_MOD_CONTROL | GLFW_MOD_SHIFT, GLFW_KEY_Z, GLFW_PRESS) == with_ctrl_shift);
    CHECK(mods_of_glfw(GLFW_MOD_CAPS_LOCK | GLFW_MOD_NUM_LOCK, GLFW_KEY_Z, GLFW_PRESS) == Mods{});
}

}  // namespace decoderscope
