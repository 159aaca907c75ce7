#include "app/window/browser/page_keys.h"

#include "app/window/window_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::window {
namespace {

constexpr auto named = std::to_array<std::pair<std::string_view, views::Key>>({
    {"ArrowLeft", views::Key::left},
    {"ArrowRight", views::Key::right},
    {"ArrowUp", views::Key::up},
    {"ArrowDown", views::Key::down},
    {"Home", views::Key::home},
    {"End", views::Key::end},
    {"PageUp", views::Key::page_up},
    {"PageDown", views::Key::page_down},
    {"Tab", views::Key::tab},
    {"Space", views::Key::space},
    {"Enter", views::Key::enter},
    {"NumpadEnter", views::Key::enter},
    {"Escape", views::Key::escape},
    {"Backspace", views::Key::backspace},
    {"Insert", views::Key::insert},
    {"Delete", views::Key::del},
    {"Minus", views::Key::minus},
    {"NumpadSubtract", views::Key::minus},
    {"Equal", views::Key::equal},
    {"NumpadAdd", views::Key::plus},
    {"Comma", views::Key::comma},
    {"Period", views::Key::period},
    {"NumpadDecimal", views::Key::period},
    {"Slash", views::Key::slash},
    {"NumpadDivide", views::Key::slash},
    {"Semicolon", views::Key::semicolon},
    {"Quote", views::Key::apostrophe},
    {"BracketLeft", views::Key::left_bracket},
    {"BracketRight", views::Key::right_bracket},
    {"Backslash", views::Key::backslash},
    {"Backquote", views::Key::grave},
});

// What follows `start`, if it is one character from `first` to `last`; otherwise 0.
char only_letter(std::string_view code, std::string_view start, char first, char last) {
    if (code.size() != start.size() + 1 || !code.starts_with(start)) return 0;
    return code.back() >= first && code.back() <= last ? code.back() : '\0';
}

views::Key function_key(std::string_view code) {
    if (code.size() < 2 || code.size() > 3 || code.front() != 'F') return views::Key::none;
    int number = 0;
    for (const char c : code.substr(1)) {
        if (c < '0' || c > '9') return views::Key::none;
        number = number * 10 + (c - '0');
    }
    return number >= 1 && number <= 12 ? offset(views::Key::f1, number - 1) : views::Key::none;
}

KeyPlace place_of(std::string_view code) {
    if (const char letter = only_letter(code, "Key", 'A', 'Z')) return {offset(views::Key::a, letter - 'A'), false};
    if (const char digit = only_letter(code, "Digit", '0', '9')) return {views::digit_key(digit - '0'), true};
    if (const char digit = only_letter(code, "Numpad", '0', '9')) return {views::digit_key(digit - '0'), false};
    if (const views::Key key = function_key(code); key != views::Key::none) return {key, false};
    const auto found = std::ranges::find(named, code, [](const auto& pair) { return pair.first; });
    return {found == named.end() ? views::Key::none : found->second, false};
}

}  // namespace

views::Key key_of_code(std::string_view code, std::string_view printed, bool ctrl) {
    const KeyPlace place = place_of(code);
    // A space is printed as a space, and the number pad prints digits.
    return place.key == views::Key::none && printed.size() != 1 ? views::Key::none
                                                                : key_meant(place, printed == " " ? "" : printed, ctrl);
}

}  // namespace decoderscope::window
