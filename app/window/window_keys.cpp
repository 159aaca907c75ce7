#include "app/window/window_keys.h"

namespace decoderscope {

namespace {

Key key_of_sign(char sign) {
    switch (sign) {
        case '-':
            return Key::minus;
        case '=':
            return Key::equal;
        case '+':
            return Key::plus;
        case ',':
            return Key::comma;
        case '.':
            return Key::period;
        case '/':
            return Key::slash;
        case ';':
            return Key::semicolon;
        case '\'':
            return Key::apostrophe;
        case '[':
            return Key::left_bracket;
        case ']':
            return Key::right_bracket;
        case '\\':
            return Key::backslash;
        case '`':
            return Key::grave;
        default:
            return Key::none;
    }
}

}  // namespace

Key key_meant(KeyPlace place, std::string_view printed, bool ctrl) {
    if (printed.size() != 1) return place.key;
    const char sign = printed.front();
    if (sign >= 'a' && sign <= 'z') return offset(Key::a, sign - 'a');
    if (sign >= 'A' && sign <= 'Z') return offset(Key::a, sign - 'A');
    // The row of digits chooses heads, even where a digit needs Shift as in France.
    const Key meant = key_of_sign(sign);
    if (place.in_digit_row && !(ctrl && (meant == Key::minus || meant == Key::plus || meant == Key::equal)))
        return place.key;
    return meant != Key::none ? meant : place.key;
}

}  // namespace decoderscope
