#include "app/core/text/characters.h"

#include <cstdint>

namespace decoderscope::core {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr char32_t replacement_code = 0xFFFD;
std::uint8_t byte_at(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

// How many bytes a character that starts with this byte has; 0 if none can.
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

}  // namespace

Utf8Character character_at(std::string_view text, std::size_t at) {
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

// Control characters, line and paragraph separators, text direction, noncharacters.
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

std::vector<Utf8Character> characters(std::string_view text) {
    std::vector<Utf8Character> found;
    for (std::size_t at = 0; at < text.size(); at += found.back().bytes.size()) found.push_back(character_at(text, at));
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

}  // namespace decoderscope::core
