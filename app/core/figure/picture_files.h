#pragma once

#include "app/core/figure/colormap.h"
#include "app/core/figure/figure.h"
#include "engine/base/error.h"
#include "engine/base/index.h"
#include "engine/base/message.h"

#include <cmath>
#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

namespace decoderscope::core {

// Writes a figure as one self-contained SVG 1.1 document: shapes as vectors, text as text, no external references.
// Texts are made printable first, so that the document is valid XML whatever they hold.
void write_svg(std::ostream& out, const Figure& figure);

// The colours of text and lines: the figure's own, on its background; or the variables --text, --quiet and --line of a
// page with a light and a dark theme, without a background. The figure must then be a light one.
enum class SvgColors { fixed, of_page };
// As above, as an element of a page.
void write_svg_element(std::ostream& out, const Figure& figure, SvgColors colors);

// Text escaped for XML and HTML, attributes included.
[[nodiscard]] std::string xml_escaped(std::string_view text);

// Why this program can't: empty if it can.
[[nodiscard]] Sentence pdf_obstacle();

// Writes figures as a PDF, with a page for each: shapes as vectors, text as text, with the used parts of its faces
// embedded. It holds no date, so that the same figure gives the same bytes wherever the fonts are the same. Throws
// Error if it cannot be written.
void write_pdf(std::ostream& out, std::span<const Figure> pages);
inline void write_pdf(std::ostream& out, const Figure& figure) { write_pdf(out, std::span(&figure, 1)); }

// Writes a figure as a PNG with `scale` pixels per unit. Characters that the figure's fonts lack are taken from any
// installed font that has them. What the figure says is its description. The same figure gives the same bytes wherever
// the fonts are the same. Throws Error if it would be too large (32,767 pixels per side) or cannot be written.
void write_png(std::ostream& out, const Figure& figure, double scale = 2);

// A PNG with this text in it as its description, which programs that show pictures read aloud; UTF-8.
[[nodiscard]] std::string described_png(std::string file, std::string_view description);

// Writes width × height pixels, row by row from the top, as a PNG: a screenshot. Throws Error as above, and if the
// number of pixels does not match.
void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels);

// The limits of a picture's size, whatever draws it.

// Throws Error unless each side has 1 to 32767 pixels, as of a Cairo image.
inline void check_picture_size(double width, double height) {
    constexpr double kLargestSide = 32767;
    if (!(width >= 1 && height >= 1 && width <= kLargestSide && height <= kLargestSide))
        throw Error("cannot draw the PNG: a side must have 1 to 32767 pixels, not {width} × {height}",
                    {{"width", std::lround(width)}, {"height", std::lround(height)}});
}

// Throws Error unless there is a pixel for each place.
inline void check_pixel_count(std::size_t count, Index width, Index height) {
    if (width < 0 || height < 0 || static_cast<std::size_t>(width * height) != count)
        throw Error("cannot draw the PNG: {count} pixels are not {width} × {height}",
                    {{"count", count}, {"width", width}, {"height", height}});
}

}  // namespace decoderscope::core
