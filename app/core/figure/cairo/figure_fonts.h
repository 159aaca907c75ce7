#pragma once

#include <cairo.h>

#include <memory>

namespace decoderscope::core {

// Releases Cairo's reference-counted objects.
struct CairoRelease {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
    void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};

template <class T>
using Cairo = std::unique_ptr<T, CairoRelease>;

// The fonts that figures are drawn in, kept for one drawing: found through Fontconfig, or, on Windows, in files.
class FigureFonts {
public:
    FigureFonts();
    ~FigureFonts();
    FigureFonts(const FigureFonts&) = delete;
    FigureFonts& operator=(const FigureFonts&) = delete;

    // The face that draws a character: Inter or JetBrains Mono (or the local substitute) if it has the character,
    // otherwise an installed font that does; nullptr if none does.
    cairo_font_face_t* face_for(char32_t code, bool bold, bool monospace);
    // The usual face: Inter or JetBrains Mono, or the local substitute.
    cairo_font_face_t* usual_face(bool bold, bool monospace);

private:
    struct Found;
    std::unique_ptr<Found> found_;
};

}  // namespace decoderscope::core
