#include "app/core/text/token_text.h"

#include "app/core/text/characters.h"
#include "engine/platform/folders.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace decoderscope::core {

namespace {

// "U+4F60, U+597D, …".
std::string names_of(std::span<const char32_t> codes) {
    constexpr std::size_t kMost = 6;
    std::string names;
    for (const char32_t code : codes.first(std::min(codes.size(), kMost)))
        names += (names.empty() ? "" : ", ") + code_point_text(code);
    return codes.size() > kMost ? names + ", …" : names;
}

Sentence joined(const Sentence& first, const Sentence& second) {
    if (first.empty() || second.empty()) return first.empty() ? second : first;
    return message("{first} {second}", {{"first", first}, {"second", second}});
}

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

std::string code_point_text(char32_t code) {
    char text[16];
    std::snprintf(text, sizeof text, "U+%04X", static_cast<unsigned>(code));
    return text;
}

std::string with_code_points(std::string_view text, const std::set<char32_t>& missing) {
    std::string named;
    for (const Utf8Character& character : characters(text))
        named += missing.contains(character.code) ? code_point_text(character.code) : std::string(character.bytes);
    return named;
}

Sentence missing_glyphs_sentence(std::span<const char32_t> missing, char32_t widest) {
    std::vector<char32_t> east_asian, others;
    for (const char32_t code : missing) (is_east_asian(code) && code <= widest ? east_asian : others).push_back(code);
    Sentence lacking, beyond;
    if (!east_asian.empty())
        lacking = message(
            "No installed font has {characters}: install {package}, then start again. The model still reads them.",
            {{"characters", names_of(east_asian)}, {"package", platform::east_asian_fonts()}});
    if (!others.empty())
        beyond = message("This window cannot draw {characters}; the model still reads them.",
                         {{"characters", names_of(others)}});
    return joined(lacking, beyond);
}

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
