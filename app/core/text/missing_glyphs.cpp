#include "app/core/text/missing_glyphs.h"

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

}  // namespace decoderscope::core
