#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// Code points from the first to the last.
struct CodeRange {
    char32_t first, last;
};

[[nodiscard]] inline bool is_in(char32_t code, std::span<const CodeRange> ranges) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// One character of UTF-8 text: its code point and its bytes.
struct Utf8Character {
    char32_t code = 0;
    std::string_view bytes;
};

// The character that starts at a byte of a text; that byte as U+FFFD if none does.
[[nodiscard]] Utf8Character character_at(std::string_view text, std::size_t at);

// The characters of a text. Bytes that are not valid UTF-8 become U+FFFD, one for each.
[[nodiscard]] std::vector<Utf8Character> characters(std::string_view text);

// The text as valid UTF-8, with U+FFFD for each byte that is not.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The text as a figure can show it: valid, on one line, nothing invisible. A line break, a tab and a carriage return
// are written as "\n", "\t" and "\r", other control and text-direction characters as U+FFFD. If the text is only
// spaces, each is written as "␣".
[[nodiscard]] std::string printable(std::string_view text);

// Whether a character can't be seen or would disturb its neighbours: controls, separators, text direction.
[[nodiscard]] bool is_unprintable(char32_t code);

// Whether a character only changes how its neighbours are drawn (a variation selector, a joiner).
[[nodiscard]] bool is_ignorable(char32_t code);

// Chinese and Japanese characters and their marks: written without spaces between words.
[[nodiscard]] inline bool is_unspaced(char32_t code) {
    constexpr std::array<CodeRange, 6> ranges = {{{0x2E80, 0x312F},  // radicals, marks, kana
                                                  {0x3190, 0x9FFF},
                                                  {0xF900, 0xFAFF},
                                                  {0xFE30, 0xFE4F},
                                                  {0xFF00, 0xFFEF},
                                                  {0x20000, 0x3FFFF}}};
    return is_in(code, ranges);
}

// Chinese characters, without marks.
[[nodiscard]] inline bool is_han(char32_t code) {
    constexpr std::array<CodeRange, 3> ranges = {{{0x3400, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}}};
    return is_in(code, ranges);
}

// These, and Korean: characters as wide as high, which only fonts made for them have.
[[nodiscard]] inline bool is_east_asian(char32_t code) {
    constexpr std::array<CodeRange, 3> korean = {{{0x1100, 0x11FF}, {0x3130, 0x318F}, {0xA000, 0xD7AF}}};
    return is_unspaced(code) || is_in(code, korean);
}

// Emoji and other small pictures.
[[nodiscard]] inline bool is_emoji(char32_t code) {
    constexpr std::array<CodeRange, 2> pictures = {{{0x2600, 0x27BF}, {0x1F000, 0x1FAFF}}};
    return is_in(code, pictures);
}

// The text without the blanks around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace decoderscope::core
