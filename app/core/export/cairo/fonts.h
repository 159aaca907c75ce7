#pragma once

#include "app/core/export/cairo/cairo_handle.h"

#include <fontconfig/fontconfig.h>

#include <map>
#include <memory>
#include <tuple>

namespace decoderscope {

struct FontconfigRelease {
    void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
    void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
};
template <class T>
using Fontconfig = std::unique_ptr<T, FontconfigRelease>;

// The fonts that figures are drawn in, found through fontconfig and kept for one drawing.
class FigureFonts {
public:
    // The face that draws a character: Inter or JetBrains Mono (or the local substitute) if it has the character, else
    // an installed font that does; nullptr if none does.
    cairo_font_face_t* face_for(char32_t code, bool bold, bool monospace);
    // Inter or JetBrains Mono, or the local substitute.
    cairo_font_face_t* usual_face(bool bold, bool monospace) { return font(bold, monospace, 0).face.get(); }

private:
    struct Font {
        Fontconfig<FcPattern> pattern;
        Cairo<cairo_font_face_t> face;
    };
    // The font of a style that has a character; for code 0, the style's usual font.
    const Font& font(bool bold, bool monospace, char32_t code);

    std::map<std::tuple<bool, bool, char32_t>, Font> fonts_;
};

}  // namespace decoderscope
