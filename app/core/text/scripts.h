#pragma once

#include "app/core/text/code_range.h"

#include <array>

namespace decoderscope {

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

}  // namespace decoderscope
