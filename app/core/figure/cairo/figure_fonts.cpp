#include "app/core/figure/cairo/figure_fonts.h"

#include "app/core/text/characters.h"

#include <cairo-ft.h>
#include <fontconfig/fontconfig.h>

#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace decoderscope::core {

namespace {

struct FontconfigRelease {
    void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
    void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
};
template <class T>
using Fontconfig = std::unique_ptr<T, FontconfigRelease>;

constexpr std::array<const char*, 4> proportional_families = {"Inter", "Helvetica", "Arial", "sans-serif"};
constexpr std::array<const char*, 3> monospaced_families = {"JetBrains Mono", "DejaVu Sans Mono", "monospace"};

std::span<const char* const> families(bool monospace) {
    if (monospace) return monospaced_families;
    return proportional_families;
}

// The request to fontconfig, which matches the character first, then the families in turn.
Fontconfig<FcPattern> wanted(bool bold, bool monospace, char32_t code) {
    Fontconfig<FcPattern> pattern(FcPatternCreate());
    for (const char* name : families(monospace)) {
        FcPatternAddString(pattern.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>(name));
    }
    FcPatternAddInteger(pattern.get(), FC_WEIGHT, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
    if (code != 0) {
        const Fontconfig<FcCharSet> characters(FcCharSetCreate());
        FcCharSetAddChar(characters.get(), code);
        FcPatternAddCharSet(pattern.get(), FC_CHARSET, characters.get());
        // Han characters differ between languages.
        if (is_unspaced(code)) FcPatternAddString(pattern.get(), FC_LANG, reinterpret_cast<const FcChar8*>("zh-cn"));
    }
    return pattern;
}

Fontconfig<FcPattern> best_match(const Fontconfig<FcPattern>& pattern) {
    FcConfigSubstitute(nullptr, pattern.get(), FcMatchPattern);
    FcDefaultSubstitute(pattern.get());
    FcResult result = FcResultMatch;
    return Fontconfig<FcPattern>(FcFontMatch(nullptr, pattern.get(), &result));
}

bool has_character(FcPattern* font, char32_t code) {
    FcCharSet* characters = nullptr;
    const bool known = font != nullptr && FcPatternGetCharSet(font, FC_CHARSET, 0, &characters) == FcResultMatch;
    return known && FcCharSetHasChar(characters, code) == FcTrue;
}

// Without any installed font, only Cairo's own "sans" is left.
Cairo<cairo_font_face_t> face_of(FcPattern* font, bool bold) {
    if (font != nullptr) return Cairo<cairo_font_face_t>(cairo_ft_font_face_create_for_pattern(font));
    const cairo_font_weight_t weight = bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL;
    return Cairo<cairo_font_face_t>(cairo_toy_font_face_create("sans", CAIRO_FONT_SLANT_NORMAL, weight));
}

}  // namespace

struct FigureFonts::Found {
    struct Font {
        Fontconfig<FcPattern> pattern;
        Cairo<cairo_font_face_t> face;
    };
    std::map<std::tuple<bool, bool, char32_t>, Font> fonts;

    // The font of a style that has a character; for code 0, the style's usual font.
    const Font& font(bool bold, bool monospace, char32_t code);
};

FigureFonts::FigureFonts() : found_(std::make_unique<Found>()) {}
FigureFonts::~FigureFonts() = default;

cairo_font_face_t* FigureFonts::usual_face(bool bold, bool monospace) {
    return found_->font(bold, monospace, 0).face.get();
}

cairo_font_face_t* FigureFonts::face_for(char32_t code, bool bold, bool monospace) {
    const Found::Font& usual = found_->font(bold, monospace, 0);
    if (has_character(usual.pattern.get(), code)) return usual.face.get();
    const Found::Font& other = found_->font(bold, monospace, code);
    return has_character(other.pattern.get(), code) ? other.face.get() : nullptr;
}

const FigureFonts::Found::Font& FigureFonts::Found::font(bool bold, bool monospace, char32_t code) {
    const auto key = std::make_tuple(bold, monospace, code);
    const auto found = fonts.find(key);
    if (found != fonts.end()) return found->second;
    Fontconfig<FcPattern> pattern = best_match(wanted(bold, monospace, code));
    Cairo<cairo_font_face_t> face = face_of(pattern.get(), bold);
    return fonts.emplace(key, Font{std::move(pattern), std::move(face)}).first->second;
}

}  // namespace decoderscope::core
