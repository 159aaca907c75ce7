#include "app/window/desktop/glfw_keys.h"

#include "app/window/window_keys.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace decoderscope::window {
namespace {

// What the layout prints on a key; empty if it isn't one ASCII character.
std::string_view printed(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    return name == nullptr || name[0] == '\0' || name[1] != '\0' ? std::string_view() : std::string_view(name, 1);
}

// The keys that come in no row.
constexpr auto kNamed = std::to_array<std::pair<int, views::Key>>({{GLFW_KEY_LEFT, views::Key::left},
                                                                   {GLFW_KEY_RIGHT, views::Key::right},
                                                                   {GLFW_KEY_UP, views::Key::up},
                                                                   {GLFW_KEY_DOWN, views::Key::down},
                                                                   {GLFW_KEY_HOME, views::Key::home},
                                                                   {GLFW_KEY_END, views::Key::end},
                                                                   {GLFW_KEY_PAGE_UP, views::Key::page_up},
                                                                   {GLFW_KEY_PAGE_DOWN, views::Key::page_down},
                                                                   {GLFW_KEY_TAB, views::Key::tab},
                                                                   {GLFW_KEY_SPACE, views::Key::space},
                                                                   {GLFW_KEY_ENTER, views::Key::enter},
                                                                   {GLFW_KEY_KP_ENTER, views::Key::enter},
                                                                   {GLFW_KEY_ESCAPE, views::Key::escape},
                                                                   {GLFW_KEY_BACKSPACE, views::Key::backspace},
                                                                   {GLFW_KEY_INSERT, views::Key::insert},
                                                                   {GLFW_KEY_DELETE, views::Key::del},
                                                                   {GLFW_KEY_MINUS, views::Key::minus},
                                                                   {GLFW_KEY_KP_SUBTRACT, views::Key::minus},
                                                                   {GLFW_KEY_EQUAL, views::Key::equal},
                                                                   {GLFW_KEY_KP_ADD, views::Key::plus},
                                                                   {GLFW_KEY_COMMA, views::Key::comma},
                                                                   {GLFW_KEY_PERIOD, views::Key::period},
                                                                   {GLFW_KEY_KP_DECIMAL, views::Key::period},
                                                                   {GLFW_KEY_SLASH, views::Key::slash},
                                                                   {GLFW_KEY_KP_DIVIDE, views::Key::slash},
                                                                   {GLFW_KEY_SEMICOLON, views::Key::semicolon},
                                                                   {GLFW_KEY_APOSTROPHE, views::Key::apostrophe},
                                                                   {GLFW_KEY_LEFT_BRACKET, views::Key::left_bracket},
                                                                   {GLFW_KEY_RIGHT_BRACKET, views::Key::right_bracket},
                                                                   {GLFW_KEY_BACKSLASH, views::Key::backslash},
                                                                   {GLFW_KEY_GRAVE_ACCENT, views::Key::grave}});

views::Key key_by_place(int key) {
    if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return offset(views::Key::digit_0, key - GLFW_KEY_0);
    if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return offset(views::Key::digit_0, key - GLFW_KEY_KP_0);
    if (key >= GLFW_KEY_A && key <= GLFW_KEY_Z) return offset(views::Key::a, key - GLFW_KEY_A);
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset(views::Key::f1, key - GLFW_KEY_F1);
    const auto found = std::ranges::find(kNamed, key, &std::pair<int, views::Key>::first);
    return found == kNamed.end() ? views::Key::none : found->second;
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
