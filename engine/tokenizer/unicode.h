#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8, and the properties of characters that tokenizers ask for.
namespace decoderscope::tokenizer {

struct CodePoint {
    char32_t code = 0;
    std::size_t bytes = 1;
};

// Without surrogates and overlong forms.
[[nodiscard]] bool is_utf8(std::string_view text);
// The character that a text begins with. The text is UTF-8 and not empty.
[[nodiscard]] CodePoint first_code_point(std::string_view text);
// The bytes of the last character; 0 of an empty text.
[[nodiscard]] std::size_t bytes_of_last(std::string_view text);

[[nodiscard]] bool is_white_space(char32_t code);  // Unicode's White_Space
[[nodiscard]] bool is_numeric(char32_t code);      // N
[[nodiscard]] bool is_punctuation(char32_t code);  // P, or one of ASCII's signs
// L, M, Nd, Nl, Pc, and what else belongs to a word: a regular expression's \w.
[[nodiscard]] bool is_word_character(char32_t code);

// What Unicode's tables say: utf8proc's, or the browser's own, which a page need not bring.

// Classes of categories: N; P; L, M, Nd, Nl and Pc.
enum class CharacterClass { numeric, punctuation, word };
[[nodiscard]] bool is_of(char32_t code, CharacterClass wanted);
// A text in one of Unicode's four normal forms: composed (NFC) or not (NFD); with what is only compatible replaced, too
// (NFKC, NFKD). Throws Error if the text is not UTF-8.
[[nodiscard]] std::string normalized(const std::string& text, bool composed, bool compatible);

}  // namespace decoderscope::tokenizer
