#pragma once

#include "app/core/figure/cairo/figure_fonts.h"
#include "app/core/figure/figure.h"

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

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
