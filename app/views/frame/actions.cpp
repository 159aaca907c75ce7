#include "app/views/frame/actions.h"

#include "engine/base/translate.h"

#include <array>
#include <string>
#include <utility>

namespace decoderscope::views {

namespace {

constexpr auto kKeyTexts = std::to_array<std::pair<Key, Phrase>>({{Key::left, Phrase("←")},
                                                                  {Key::right, Phrase("→")},
                                                                  {Key::up, Phrase("↑")},
                                                                  {Key::down, Phrase("↓")},
                                                                  {Key::home, message_c("key", "Home")},
                                                                  {Key::end, message_c("key", "End")},
                                                                  {Key::page_up, message_c("key", "PageUp")},
                                                                  {Key::page_down, message_c("key", "PageDown")},
                                                                  {Key::space, message_c("key", "Space")},
                                                                  {Key::enter, message_c("key", "Enter")},
                                                                  {Key::escape, message_c("key", "Esc")},
                                                                  {Key::backspace, message_c("key", "Backspace")},
                                                                  {Key::plus, Phrase("+")},
                                                                  {Key::equal, Phrase("=")},
                                                                  {Key::minus, Phrase("−")},
                                                                  {Key::comma, Phrase(",")},
                                                                  {Key::period, Phrase(".")},
                                                                  {Key::left_bracket, Phrase("[")},
                                                                  {Key::right_bracket, Phrase("]")}});

}  // namespace

std::string key_text(Key key) {
    if (key >= Key::a && key <= Key::z)
        return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::a))};
    if (key >= Key::digit_0 && key <= Key::digit_9)
        return {static_cast<char>('0' + static_cast<int>(key) - static_cast<int>(Key::digit_0))};
    if (key >= Key::f1 && key <= Key::f12)
        return "F" + std::to_string(static_cast<int>(key) - static_cast<int>(Key::f1) + 1);
    for (const auto& [named, text] : kKeyTexts)
        if (named == key) return tr(text);
    return {};
}

std::string chord_text(const Action& action) {
    if (action.key == Key::none) return {};
    return std::string(action.mods.ctrl ? tr(message_c("key", "Ctrl+")) : "") +
           (action.mods.alt ? tr(message_c("key", "Alt+")) : "") +
           (action.mods.shift ? tr(message_c("key", "Shift+")) : "") + key_text(action.key);
}

}  // namespace decoderscope::views
