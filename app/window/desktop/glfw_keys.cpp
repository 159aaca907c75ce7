#include "app/window/desktop/glfw_keys.h"

#include "app/window/window_keys.h"

#include <GLFW/glfw3.h>

#include <string_view>

namespace decoderscope {
namespace {

// What the layout prints on a key; empty if it isn't one ASCII character.
std::string_view printed(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    return name == nullptr || name[0] == '\0' || name[1] != '\0' ? std::string_view() : std::string_view(name, 1);
}

Key key_by_place(int key) {
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(Key::digit_0, key - GLFW_KEY_0);
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(Key::digit_0, key - GLFW_KEY_KP_0);
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return offset(Key::a, key - GLFW_KEY_A);
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset(Key::f1, key - GLFW_KEY_F1);
    switch (key) {
        case GLFW_KEY_LEFT:
            return Key::left;
        case GLFW_KEY_RIGHT:
            return Key::right;
        case GLFW_KEY_UP:
            return Key::up;
        case GLFW_KEY_DOWN:
            return Key::down;
        case GLFW_KEY_HOME:
            return Key::home;
        case GLFW_KEY_END:
            return Key::end;
        case GLFW_KEY_PAGE_UP:
            return Key::page_up;
        case GLFW_KEY_PAGE_DOWN:
            return Key::page_down;
        case GLFW_KEY_TAB:
            return Key::tab;
        case GLFW_KEY_SPACE:
            return Key::space;
        case GLFW_KEY_ENTER:
        case GLFW_KEY_KP_ENTER:
            return Key::enter;
        case GLFW_KEY_ESCAPE:
            return Key::escape;
        case GLFW_KEY_BACKSPACE:
            return Key::backspace;
        case GLFW_KEY_INSERT:
            return Key::insert;
        case GLFW_KEY_DELETE:
            return Key::del;
        case GLFW_KEY_MINUS:
        case GLFW_KEY_KP_SUBTRACT:
            return Key::minus;
        case GLFW_KEY_EQUAL:
            return Key::equal;
        case GLFW_KEY_KP_ADD:
            return Key::plus;
        case GLFW_KEY_COMMA:
            return Key::comma;
        case GLFW_KEY_PERIOD:
        case GLFW_KEY_KP_DECIMAL:
            return Key::period;
        case GLFW_KEY_SLASH:
        case GLFW_KEY_KP_DIVIDE:
            return Key::slash;
        case GLFW_KEY_SEMICOLON:
            return Key::semicolon;
        case GLFW_KEY_APOSTROPHE:
            return Key::apostrophe;
        case GLFW_KEY_LEFT_BRACKET:
            return Key::left_bracket;
        case GLFW_KEY_RIGHT_BRACKET:
            return Key::right_bracket;
        case GLFW_KEY_BACKSLASH:
            return Key::backslash;
        case GLFW_KEY_GRAVE_ACCENT:
            return Key::grave;
        default:
            return Key::none;
    }
}

}  // namespace

Key key_of_glfw(int key, int scancode, bool ctrl) {
    return key == GLFW_KEY_UNKNOWN ? Key::none : key_meant(key, printed(key, scancode), ctrl);
}

Key key_meant(int key, std::string_view name, bool ctrl) {
    return key_meant({key_by_place(key), key >= GLFW_KEY_0 && key <= GLFW_KEY_9}, name, ctrl);
}

Mods mods_of_glfw(int mods, int key, int action) {
    Mods held{(mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0};
    const bool down = action != GLFW_RELEASE;
    if (key == GLFW_KEY_LEFT_CONTROL || key == GLFW_KEY_RIGHT_CONTROL) held.ctrl = down;
    if (key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT) held.shift = down;
    if (key == GLFW_KEY_LEFT_ALT || key == GLFW_KEY_RIGHT_ALT) held.alt = down;
    return held;
}

}  // namespace decoderscope
