#include "app/window/browser/page_keys.h"

#include "app/window/window_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace decoderscope::window {
namespace {

constexpr auto named = std::to_array<std::pair<std::string_view, Key>>({
    {"ArrowLeft", Key::left},
    {"ArrowRight", Key::right},
    {"ArrowUp", Key::up},
    {"ArrowDown", Key::down},
    {"Home", Key::home},
    {"End", Key::end},
    {"PageUp", Key::page_up},
    {"PageDown", Key::page_down},
    {"Tab", Key::tab},
    {"Space", Key::space},
    {"Enter", Key::enter},
    {"NumpadEnter", Key::enter},
    {"Escape", Key::escape},
    {"Backspace", Key::backspace},
    {"Insert", Key::insert},
    {"Delete", Key::del},
    {"Minus", Key::minus},
    {"NumpadSubtract", Key::minus},
    {"Equal", Key::equal},
    {"NumpadAdd", Key::plus},
    {"Comma", Key::comma},
    {"Period", Key::period},
    {"NumpadDecimal", Key::period},
    {"Slash", Key::slash},
    {"NumpadDivide", Key::slash},
    {"Semicolon", Key::semicolon},
    {"Quote", Key::apostrophe},
    {"BracketLeft", Key::left_bracket},
    {"BracketRight", Key::right_bracket},
    {"Backslash", Key::backslash},
    {"Backquote", Key::grave},
});

// What follows `start`, if it is one character from `first` to `last`; else 0.
char only_letter(std::string_view code, std::string_view start, char first, char last) {
    if (code.size() != start.size() + 1 || !code.starts_with(start)) return 0;
    return code.back() >= first && code.back() <= last ? code.back() : '\0';
}

Key function_key(std::string_view code) {
    if (code.size() < 2 || code.size() > 3 || code.front() != 'F') return Key::none;
    int number = 0;
    for (const char c : code.substr(1)) {
        if (c < '0' || c > '9') return Key::none;
        number = number * 10 + (c - '0');
    }
    return number >= 1 && number <= 12 ? offset(Key::f1, number - 1) : Key::none;
}

KeyPlace place_of(std::string_view code) {
    if (const char letter = only_letter(code, "Key", 'A', 'Z')) return {offset(Key::a, letter - 'A'), false};
    if (const char digit = only_letter(code, "Digit", '0', '9')) return {digit_key(digit - '0'), true};
    if (const char digit = only_letter(code, "Numpad", '0', '9')) return {digit_key(digit - '0'), false};
    if (const Key key = function_key(code); key != Key::none) return {key, false};
    const auto found = std::ranges::find(named, code, [](const auto& pair) { return pair.first; });
    return {found == named.end() ? Key::none : found->second, false};
}

}  // namespace

Key key_of_code(std::string_view code, std::string_view printed, bool ctrl) {
    const KeyPlace place = place_of(code);
    // A space is printed as a space, and the number pad prints digits.
    return place.key == Key::none && printed.size() != 1 ? Key::none
                                                         : key_meant(place, printed == " " ? "" : printed, ctrl);
}

}  // namespace decoderscope::window
