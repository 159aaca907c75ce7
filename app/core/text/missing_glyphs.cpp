#include "app/core/text/missing_glyphs.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace decoderscope {

namespace {

// "U+4F60, U+597D, …".
std::string names_of(std::span<const char32_t> codes) {
    constexpr std::size_t kMost = 6;
    std::string names;
    for (const char32_t code : codes.first(std::min(codes.size(), kMost)))
        names += (names.empty() ? "" : ", ") + code_point_text(code);
    return codes.size() > kMost ? names + ", …" : names;
}

bool is_east_asian(char32_t code) {
    return (code >= 0x1100 && code < 0x1200) || (code >= 0x2E80 && code < 0xD7B0) ||
           (code >= 0xF900 && code < 0xFB00) || (code >= 0xFE30 && code < 0xFFF0);
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

Sentence missing_glyphs_sentence(std::span<const char32_t> missing, char32_t widest) {
    std::vector<char32_t> beyond, others;
    for (const char32_t code : missing) (code > widest ? beyond : others).push_back(code);
    const bool east_asian = std::ranges::any_of(others, is_east_asian);
    Sentence lacking, too_wide;
    if (!others.empty())
        lacking = message(
            "No installed font has {characters}: install {package}, then start again. The model reads them "
            "all the same.",
            {{"characters", names_of(others)}, {"package", east_asian ? "fonts-noto-cjk" : "fonts-noto-core"}});
    if (!beyond.empty())
        too_wide = message("This window cannot draw {characters}; the model reads them all the same.",
                           {{"characters", names_of(beyond)}});
    return joined(lacking, too_wide);
}

}  // namespace decoderscope
