#include "app/window/window_keys.h"

#include <cstddef>
#include <string_view>

namespace decoderscope::window {

namespace {

views::Key key_of_sign(char sign) {
    // In the order of views::Key, from minus on.
    constexpr std::string_view kSigns = "-=+,./;'[]\\`";
    const std::size_t at = kSigns.find(sign);
    return at == std::string_view::npos ? views::Key::none : offset(views::Key::minus, static_cast<int>(at));
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
