#include "app/core/text/token_text.h"

#include "app/core/text/characters.h"

#include <algorithm>

namespace decoderscope::core {

namespace {

// An axis over a vocabulary of 50,257 asks for each of its tokens: most are this simple.
bool is_plain(std::string_view piece) {
    return std::all_of(piece.begin(), piece.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

std::string visible(const Utf8Character& character) {
    const bool broken = character.code == 0xFFFD && character.bytes.size() == 1;
    if (character.code == ' ') return "␣";
    if (character.code == '\n') return "↵";
    if (character.code == '\t') return "→";
    return broken || is_unprintable(character.code) ? hexadecimal(character.bytes, "\\") : std::string(character.bytes);
}

}  // namespace

std::string hexadecimal(std::string_view bytes, std::string_view before) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += before;
        text += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return text;
}

std::string token_text(std::string_view piece) {
    if (is_plain(piece)) return std::string(piece);
    if (piece.front() == ' ' && is_plain(piece.substr(1))) return std::string("␣").append(piece.substr(1));
    std::string text;
    for (const Utf8Character& character : characters(piece)) text += visible(character);
    return text;
}

std::string token_text(const tokenizer::Tokenizer& tokenizer, Index id) { return token_text(tokenizer.piece(id)); }

}  // namespace decoderscope::core
