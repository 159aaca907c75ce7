#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

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

}  // namespace decoderscope
