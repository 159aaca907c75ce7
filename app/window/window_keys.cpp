#include "app/window/window_keys.h"

namespace decoderscope::window {

namespace {

views::Key key_of_sign(char sign) {
    switch (sign) {
        case '-':
            return views::Key::minus;
        case '=':
            return views::Key::equal;
        case '+':
            return views::Key::plus;
        case ',':
            return views::Key::comma;
        case '.':
            return views::Key::period;
        case '/':
            return views::Key::slash;
        case ';':
            return views::Key::semicolon;
        case '\'':
            return views::Key::apostrophe;
        case '[':
            return views::Key::left_bracket;
        case ']':
            return views::Key::right_bracket;
        case '\\':
            return views::Key::backslash;
        case '`':
            return views::Key::grave;
        default:
            return views::Key::none;
    }
}

}  // namespace

views::Key key_meant(KeyPlace place, std::string_view printed, bool ctrl) {
    if (printed.size() != 1) return place.key;
    const char sign = printed.front();
    if (sign >= 'a' && sign <= 'z') return offset(views::Key::a, sign - 'a');
    if (sign >= 'A' && sign <= 'Z') return offset(views::Key::a, sign - 'A');
    // The row of digits chooses heads, even where a digit needs Shift as in France.
    const views::Key meant = key_of_sign(sign);
    if (place.in_digit_row &&
        !(ctrl && (meant == views::Key::minus || meant == views::Key::plus || meant == views::Key::equal)))
        return place.key;
    return meant != views::Key::none ? meant : place.key;
}

}  // namespace decoderscope::window
