#include "app/window/desktop/glfw_keys.h"

#include "app/window/window_keys.h"

#include <GLFW/glfw3.h>

#include <string_view>

namespace decoderscope::window {
namespace {

// What the layout prints on a key; empty if it isn't one ASCII character.
std::string_view printed(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    return name == nullptr || name[0] == '\0' || name[1] != '\0' ? std::string_view() : std::string_view(name, 1);
}

views::Key key_by_place(int key) {
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(views::Key::digit_0, key - GLFW_KEY_0);
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(views::Key::digit_0, key - GLFW_KEY_KP_0);
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return offset(views::Key::a, key - GLFW_KEY_A);
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset(views::Key::f1, key - GLFW_KEY_F1);
    switch (key) {
        case GLFW_KEY_LEFT:
            return views::Key::left;
        case GLFW_KEY_RIGHT:
            return views::Key::right;
        case GLFW_KEY_UP:
            return views::Key::up;
        case GLFW_KEY_DOWN:
            return views::Key::down;
        case GLFW_KEY_HOME:
            return views::Key::home;
        case GLFW_KEY_END:
            return views::Key::end;
        case GLFW_KEY_PAGE_UP:
            return views::Key::page_up;
        case GLFW_KEY_PAGE_DOWN:
            return views::Key::page_down;
        case GLFW_KEY_TAB:
            return views::Key::tab;
        case GLFW_KEY_SPACE:
            return views::Key::space;
        case GLFW_KEY_ENTER:
        case GLFW_KEY_KP_ENTER:
            return views::Key::enter;
        case GLFW_KEY_ESCAPE:
            return views::Key::escape;
        case GLFW_KEY_BACKSPACE:
            return views::Key::backspace;
        case GLFW_KEY_INSERT:
            return views::Key::insert;
        case GLFW_KEY_DELETE:
            return views::Key::del;
        case GLFW_KEY_MINUS:
        case GLFW_KEY_KP_SUBTRACT:
            return views::Key::minus;
        case GLFW_KEY_EQUAL:
            return views::Key::equal;
        case GLFW_KEY_KP_ADD:
            return views::Key::plus;
        case GLFW_KEY_COMMA:
            return views::Key::comma;
        case GLFW_KEY_PERIOD:
        case GLFW_KEY_KP_DECIMAL:
            return views::Key::period;
        case GLFW_KEY_SLASH:
        case GLFW_KEY_KP_DIVIDE:
            return views::Key::slash;
        case GLFW_KEY_SEMICOLON:
            return views::Key::semicolon;
        case GLFW_KEY_APOSTROPHE:
            return views::Key::apostrophe;
        case GLFW_KEY_LEFT_BRACKET:
            return views::Key::left_bracket;
        case GLFW_KEY_RIGHT_BRACKET:
            return views::Key::right_bracket;
        case GLFW_KEY_BACKSLASH:
            return views::Key::backslash;
        case GLFW_KEY_GRAVE_ACCENT:
            return views::Key::grave;
        default:
            return views::Key::none;
    }
}

}  // namespace

views::Key key_of_glfw(int key, int scancode, bool ctrl) {
    return key == GLFW_KEY_UNKNOWN ? views::Key::none : key_meant(key, printed(key, scancode), ctrl);
}

views::Key key_meant(int key, std::string_view name, bool ctrl) {
    return key_meant({key_by_place(key), key >= GLFW_KEY_0 && key <= GLFW_KEY_9}, name, ctrl);
}

views::Mods mods_of_glfw(int mods, int key, int action) {
    views::Mods held{(mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0};
    const bool down = action != GLFW_RELEASE;
    if (key == GLFW_KEY_LEFT_CONTROL || key == GLFW_KEY_RIGHT_CONTROL) held.ctrl = down;
    if (key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT) held.shift = down;
    if (key == GLFW_KEY_LEFT_ALT || key == GLFW_KEY_RIGHT_ALT) held.alt = down;
    return held;
}

}  // namespace decoderscope::window
