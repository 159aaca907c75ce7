#include "app/core/text/numbers.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace decoderscope::core {

namespace {

std::string to_text(double value, std::chars_format format, int precision) {
    std::array<char, 400> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision);
    return {buffer.data(), end.ptr};
}

// The power of ten of a number in scientific notation, after rounding.
int exponent_of(const std::string& scientific) {
    const std::size_t sign = scientific.find('e') + 1;
    const int size = std::stoi(scientific.substr(sign + 1));
    return scientific[sign] == '-' ? -size : size;
}

// A positive number.
std::string magnitude_text(double value, int digits) {
    const std::string scientific = to_text(value, std::chars_format::scientific, digits - 1);
    const int exponent = exponent_of(scientific);
    if (exponent >= -3 && exponent < 5) {
        return to_text(value, std::chars_format::fixed, std::max(0, digits - 1 - exponent));
    }
    return scientific.substr(0, scientific.find('e')) + "e" + std::to_string(exponent);
}

// The same number without trailing zeros: "0.500" -> "0.5", "1.00e-5" -> "1e-5".
std::string without_trailing_zeros(const std::string& text) {
    if (text.find('.') == std::string::npos) return text;
    const std::size_t exponent = std::min(text.find('e'), text.size());
    std::size_t end = text.find_last_not_of('0', exponent - 1) + 1;
    if (text[end - 1] == '.') --end;
    return text.substr(0, end) + text.substr(exponent);
}

// The text for zero or a non-finite number; empty for any other.
std::string special_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    return value == 0.0 ? "0" : "";
}

double parsed(const std::string& number) {
    double value = 0.0;
    fast_float::from_chars(number.data(), number.data() + number.size(), value);
    return value;
}

std::string with_sign(double value, const std::string& magnitude) { return (value < 0 ? "−" : "") + magnitude; }

}  // namespace

std::string number_text(double value, int digits) {
    const std::string special = special_text(value);
    return special.empty() ? with_sign(value, magnitude_text(std::fabs(value), digits)) : special;
}

std::string fixed_text(double value, int decimals) {
    if (!std::isfinite(value)) return special_text(value);
    const std::string magnitude = to_text(std::fabs(value), std::chars_format::fixed, decimals);
    return with_sign(parsed(magnitude) == 0.0 ? 0.0 : value, magnitude);
}

std::string short_number_text(double value, int digits) {
    const std::string special = special_text(value);
    if (!special.empty()) return special;
    const std::string full = magnitude_text(std::fabs(value), digits);
    const bool exact = static_cast<float>(parsed(full)) == static_cast<float>(std::fabs(value));
    return with_sign(value, exact ? without_trailing_zeros(full) : full);
}

std::string grouped(Index number) {
    std::string text = std::to_string(number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

Sentence counted_rows(std::size_t count) {
    return message_n("{count} row", "{count} rows", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_numbers(std::size_t count) {
    return message_n("{count} number", "{count} numbers", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_steps(std::size_t count) {
    return message_n("{count} step", "{count} steps", count, {{"count", grouped(static_cast<Index>(count))}});
}

Sentence counted_tensors(std::size_t count) {
    return message_n("{count} tensor", "{count} tensors", count, {{"count", grouped(static_cast<Index>(count))}});
}

}  // namespace decoderscope::core
