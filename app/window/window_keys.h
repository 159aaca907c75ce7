#pragma once

#include "app/views/widgets/keys_and_mouse.h"

#include <string_view>

namespace decoderscope::window {

// The key that follows another by so many: a digit, a letter, one of F1 to F12.
[[nodiscard]] constexpr views::Key offset(views::Key first, int by) {
    return static_cast<views::Key>(static_cast<int>(first) + by);
}

// Where a key lies, by what an English keyboard has there.
struct KeyPlace {
    views::Key key = views::Key::none;
    bool in_digit_row = false;
};

// The key that a press means: what the layout prints on it, if that is one ASCII character, otherwise where it lies.
// The row of digits chooses heads on every layout; with Ctrl its plus and minus change the text's size.
[[nodiscard]] views::Key key_meant(KeyPlace place, std::string_view printed, bool ctrl);

}  // namespace decoderscope::window
