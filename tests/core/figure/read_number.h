#pragma once

#include <cmath>
#include <regex>
#include <string>

namespace decoderscope::testing {

// Whether a text in a cell, read back, is the number at the digits that it has: it is no further from it than half a
// unit of its last digit, and has its sign. Only zero itself is "0"; a fraction shows a digit behind its point, unless
// it is as good as 1; what is rounded to nothing has no sign.
inline bool is_its_number(std::string text, double value) {
    if (std::isnan(value)) return text == "NaN";
    if (std::isinf(value)) return text == (value > 0.0 ? "∞" : "−∞");
    if (value == 0.0) return text == "0";
    static const std::regex pattern(R"((−)?(\d*)(?:\.(\d+))?(?:e(-?\d+))?)");
    std::smatch found;
    if (!std::regex_match(text, found, pattern) || (found[2].length() == 0 && found[3].length() == 0)) return false;
    const int exponent = found[4].matched ? std::stoi(found[4].str()) : 0;
    const auto decimals = static_cast<int>(found[3].length());
    if (const std::size_t minus = text.find("−"); minus != std::string::npos) text.replace(minus, 3, "-");
    const double shown = std::stod(text), unit = std::pow(10.0, exponent - decimals);
    if (decimals == 0 && !found[4].matched && std::abs(value) < 0.95) return false;
    if (shown == 0.0 ? found[1].matched : (shown < 0.0) != (value < 0.0)) return false;
    // A tie is rounded either way; the two decimals are no closer than doubles are.
    return std::abs(shown - value) <= 0.5 * unit * (1.0 + 1e-9) + 1e-15 * std::abs(value);
}

}  // namespace decoderscope::testing
