#pragma once

#include <string>

namespace decoderscope {

// A number to `digits` significant digits, with a proper minus: "0.500", "−12.3", "1.20e-5", "0", "NaN", "∞", "−∞".
// Whole numbers below 100,000 keep all their digits.
[[nodiscard]] std::string number_text(double value, int digits);

// A number with this many decimals, so that a column of them aligns at the decimal point: "0.50", "−1.25", "NaN", "∞".
[[nodiscard]] std::string fixed_text(double value, int decimals);

// number_text() without trailing zeros, unless they show that the number was rounded.
[[nodiscard]] std::string short_number_text(double value, int digits);

}  // namespace decoderscope
