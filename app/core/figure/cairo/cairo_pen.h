#pragma once

#include "app/core/figure/figure.h"

#include <cairo.h>
#include <fontconfig/fontconfig.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

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

// Throws Error if Cairo failed: "cannot draw the PNG: …".
void check_cairo(cairo_status_t status, const char* what);

// Cairo's callback for the bytes that it writes; `out` is a std::ostream.
cairo_status_t append_to_stream(void* out, const unsigned char* bytes, unsigned int count) noexcept;

// An empty image, and one with a pixel per colour, row by row. Throws Error if a side exceeds Cairo's 32,767 pixels.
[[nodiscard]] Cairo<cairo_surface_t> new_image(double width, double height, cairo_format_t format);
[[nodiscard]] Cairo<cairo_surface_t> image_of(Index width, Index height, std::span<const Rgba> pixels);

// How a pen draws cells: as one picture with a pixel per cell, or as one rectangle each.
enum class CellsAs { picture, rectangles };

// Draws a figure's primitives onto a Cairo context whose unit is the figure's.
class Pen {
public:
    Pen(cairo_t* cairo, CellsAs cells);

    // The background and everything on it.
    void draw(const Figure& figure);

    void operator()(const figure::FilledRectangle& rectangle);
    void operator()(const figure::Line& line);
    void operator()(const figure::Text& text);
    void operator()(const figure::CellGrid& grid);
    void operator()(const figure::HatchedRectangle& rectangle);
    void operator()(const figure::Polyline& line);
    void operator()(const figure::Circle& circle);

private:
    // Consecutive characters that one face draws.
    struct FaceRun {
        cairo_font_face_t* face = nullptr;
        std::string text;
    };

    void use(Rgba color);
    void outline(const figure::Box& box);
    void draw_picture(const figure::CellGrid& grid);
    void draw_rectangles(const figure::CellGrid& grid);
    [[nodiscard]] std::vector<FaceRun> runs_of(const figure::Text& text);
    [[nodiscard]] double advance(const FaceRun& run);
    void show(const std::vector<FaceRun>& runs, figure::Anchor anchor);

    cairo_t* cairo_;
    CellsAs cells_;
    FigureFonts fonts_;
};

}  // namespace decoderscope::core
