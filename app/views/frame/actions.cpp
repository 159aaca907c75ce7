#include "app/views/frame/actions.h"

#include "engine/base/translate.h"

#include <string>

namespace decoderscope::views {

std::string key_text(Key key) {
    if (key >= Key::a && key <= Key::z)
        return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a))};
    if (key >= Key::digit_0 && key <= Key::digit_9)
        return {static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::digit_0))};
    if (key >= Key::f1 && key <= Key::f12)
        return "F" + std::to_string(static_cast<int>(key) - static_cast<int>(Key::f1) + 1);
    switch (key) {
        case Key::left:
            return "←";
        case Key::right:
            return "→";
        case Key::up:
            return "↑";
        case Key::down:
            return "↓";
        case Key::home:
            return tr(message_c("key", "Home"));
        case Key::end:
            return tr(message_c("key", "End"));
        case Key::page_up:
            return tr(message_c("key", "PageUp"));
        case Key::page_down:
            return tr(message_c("key", "PageDown"));
        case Key::space:
            return tr(message_c("key", "Space"));
        case Key::escape:
            return tr(message_c("key", "Esc"));
        case Key::backspace:
            return tr(message_c("key", "Backspace"));
        case Key::plus:
            return "+";
        case Key::equal:
            return "=";
        case Key::minus:
            return "−";
        case Key::comma:
            return ",";
        case Key::period:
            return ".";
        default:
            return "";
    }
}

std::string chord_text(const Action& action) {
    if (action.key == Key::none) return {};
    return std::string(action.mods.ctrl ? tr(message_c("key", "Ctrl+")) : "") +
           (action.mods.alt ? tr(message_c("key", "Alt+")) : "") +
           (action.mods.shift ? tr(message_c("key", "Shift+")) : "") + key_text(action.key);
}

}  // namespace decoderscope::views
