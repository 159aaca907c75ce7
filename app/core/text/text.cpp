#include "app/core/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace decoderscope {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr char32_t replacement_code = 0xFFFD;
constexpr char32_t minus_sign = 0x2212, infinity_sign = 0x221E, ellipsis = 0x2026;

std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

// How many bytes the character that starts with this one has; 0 where none starts so.
std::size_t length_of(std::uint8_t first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    if (first >= 0xF0 && first < 0xF5) return 4;
    return 0;
}

bool is_valid(char32_t code, std::size_t length) {
    constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code >= smallest[length] && code <= 0x10FFFF && !surrogate;
}

// The character that starts at a byte; one byte as U+FFFD where none does.
Utf8Character decoded(std::string_view text, std::size_t at) {
    const Utf8Character broken{replacement_code, text.substr(at, 1)};
    const std::size_t length = length_of(byte_at(text, at));
    if (length == 0 || at + length > text.size()) return broken;
    char32_t code = length == 1 ? byte_at(text, at) : byte_at(text, at) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint8_t next = byte_at(text, at + i);
        if ((next & 0xC0U) != 0x80) return broken;
        code = code << 6U | (next & 0x3FU);
    }
    return is_valid(code, length) ? Utf8Character{code, text.substr(at, length)} : broken;
}

struct CodeRange {
    char32_t first, last;
};

bool is_in(char32_t code, std::span<const CodeRange> ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// Control characters, line and paragraph separators, text direction, noncharacters: what must not reach a figure.
bool is_unprintable(char32_t code) {
    constexpr std::array<CodeRange, 8> ranges = {{{0x00, 0x1F},
                                                  {0x7F, 0x9F},
                                                  {0x200B, 0x200C},
                                                  {0x200E, 0x200F},
                                                  {0x2028, 0x202E},
                                                  {0x2060, 0x206F},
                                                  {0xFEFF, 0xFEFF},
                                                  {0xFFF9, 0xFFFB}}};
    return is_in(code, ranges) || (code & 0xFFFEU) == 0xFFFE;
}

std::string printable_character(const Utf8Character& character) {
    switch (character.code) {
        case '\n':
            return "\\n";
        case '\t':
            return "\\t";
        case '\r':
            return "\\r";
        case replacement_code:
            return std::string(replacement);
        default:
            return std::string(is_unprintable(character.code) ? replacement : character.bytes);
    }
}

bool takes_no_room(char32_t code) {
    constexpr std::array<CodeRange, 7> ranges = {{{0x0300, 0x036F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F},
                                                  {0xE0100, 0xE01EF}}};
    return is_in(code, ranges);
}

bool is_emoji(char32_t code) {
    constexpr std::array<CodeRange, 2> ranges = {{{0x2600, 0x27BF}, {0x1F000, 0x1FAFF}}};
    return is_in(code, ranges);
}

// The widest of Inter, Nimbus Sans (Helvetica, Arial) and DejaVu Sans, in thousandths of an em, from ' ' to '~'.
constexpr std::array<std::int16_t, 95> ascii_widths = {
    318, 401, 460, 838, 638, 951, 780, 275, 391, 391, 500, 838, 318, 461,  318, 357, 637, 637, 637,
    637, 643, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 556, 1015, 685, 687, 728, 771, 667,
    611, 778, 752, 295, 543, 667, 563, 890, 753, 788, 667, 788, 722, 667,  643, 742, 685, 989, 686,
    667, 686, 391, 357, 391, 838, 556, 500, 613, 635, 559, 635, 616, 361,  635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 523, 393, 634, 592, 818, 592, 592,  542, 637, 337, 637, 838};

double proportional_width(char32_t code) {
    if (code >= ' ' && code <= '~') return ascii_widths[code - U' '] / 1000.0;
    if (is_emoji(code)) return 1.4;
    if (code == minus_sign || code == infinity_sign) return 0.97;
    return 1.1;
}

bool is_in_monospaced_fonts(char32_t code) {
    return code < 0x0530 || code == minus_sign || code == infinity_sign || code == ellipsis;
}

double character_width(char32_t code, bool bold, bool monospace) {
    if (takes_no_room(code)) return 0.0;
    if (monospace && is_in_monospaced_fonts(code)) return 0.61;
    return proportional_width(code) * (bold ? 1.2 : 1.0);
}

std::string to_text(double value, std::chars_format format, int precision) {
    std::array<char, 400> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision);
    return {buffer.data(), end.ptr};
}

// The power of ten of a number once it is rounded to `digits` significant digits.
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

// The same number without the zeros behind its last digit: "0.500" -> "0.5", "1.00e-5" -> "1e-5".
std::string without_trailing_zeros(const std::string& text) {
    if (text.find('.') == std::string::npos) return text;
    const std::size_t exponent = std::min(text.find('e'), text.size());
    std::size_t end = text.find_last_not_of('0', exponent - 1) + 1;
    if (text[end - 1] == '.') --end;
    return text.substr(0, end) + text.substr(exponent);
}

// The text for a number that has no digits, or for zero; empty for any other.
std::string special_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    return value == 0.0 ? "0" : "";
}

double parsed(const std::string& number) {
    double value = 0.0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value;
}

std::string with_sign(double value, const std::string& magnitude) { return (value < 0 ? "−" : "") + magnitude; }

}  // namespace

std::vector<Utf8Character> characters(std::string_view text) {
    std::vector<Utf8Character> found;
    for (std::size_t at = 0; at < text.size(); at += found.back().bytes.size()) found.push_back(decoded(text, at));
    return found;
}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    for (const Utf8Character& character : characters(text)) {
        valid += character.code == replacement_code ? replacement : character.bytes;
    }
    return valid;
}

std::string printable(std::string_view text) {
    std::string shown;
    const bool only_spaces = text.find_first_not_of(' ') == std::string_view::npos;
    for (const Utf8Character& character : characters(text)) {
        shown += only_spaces ? "␣" : printable_character(character);
    }
    return shown;
}

bool is_ignorable(char32_t code) {
    constexpr std::array<CodeRange, 3> ranges = {{{0x200D, 0x200D}, {0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}}};
    return is_in(code, ranges);
}

double text_width_em(std::string_view text, bool bold, bool monospace) {
    double width = 0.0;
    for (const Utf8Character& character : characters(text)) width += character_width(character.code, bold, monospace);
    return width;
}

std::string elided(std::string_view text, double width_em, bool bold, bool monospace) {
    if (text_width_em(text, bold, monospace) <= width_em) return std::string(text);
    constexpr std::string_view dots = "…";
    double room = width_em - text_width_em(dots, bold, monospace);
    std::string kept;
    for (const Utf8Character& character : characters(text)) {
        room -= character_width(character.code, bold, monospace);
        if (room < 0) break;
        kept += character.bytes;
    }
    return kept.append(dots);
}

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

}  // namespace decoderscope
