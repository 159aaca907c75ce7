#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// One character of UTF-8 text: its code point and its bytes.
struct Utf8Character {
    char32_t code = 0;
    std::string_view bytes;
};

// The characters of a text. Bytes that are no valid UTF-8 come as U+FFFD, one for each.
[[nodiscard]] std::vector<Utf8Character> characters(std::string_view text);

// The text as valid UTF-8, with U+FFFD for each byte that is not.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The text as a figure can show it: valid, on one line, nothing invisible. A line break, a tab and a carriage return
// are written as "\n", "\t" and "\r", other control and text-direction characters as U+FFFD; where there are only
// spaces, each is written as "␣".
[[nodiscard]] std::string printable(std::string_view text);

// Whether a character only changes how its neighbours are drawn (a variation selector, a joiner).
[[nodiscard]] bool is_ignorable(char32_t code);

// How wide a text can be at most, in em: an estimate on the safe side for Inter, Helvetica, Arial and DejaVu Sans (or,
// monospaced, JetBrains Mono and DejaVu Sans Mono), so that what is laid out with it fits in whichever of them is
// there.
[[nodiscard]] double text_width_em(std::string_view text, bool bold, bool monospace);

// The text, or as much of its beginning as fits in `width_em` together with "…".
[[nodiscard]] std::string elided(std::string_view text, double width_em, bool bold, bool monospace);

// A number to `digits` significant digits, with a proper minus: "0.500", "−12.3", "1.20e-5", "0", "NaN", "∞", "−∞".
// Whole numbers below 100,000 keep all their digits.
[[nodiscard]] std::string number_text(double value, int digits);

// A number with this many decimals, so that a column of them is aligned on the point: "0.50", "−1.25", "NaN", "∞".
[[nodiscard]] std::string fixed_text(double value, int decimals);

// The same without zeros at its end, unless they tell that the number was rounded.
[[nodiscard]] std::string short_number_text(double value, int digits);

}  // namespace decoderscope
