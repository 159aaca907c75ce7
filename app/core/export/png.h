#pragma once

#include "app/core/export/figure.h"
#include "app/core/picture/colormap.h"

#include <iosfwd>
#include <span>

namespace decoderscope {

// Writes a figure as a PNG with `scale` pixels per unit. Characters that the figure's fonts lack are taken from any
// installed font that has them. The same figure gives the same bytes wherever the fonts are the same. Throws Error if
// it would be too large (32,767 pixels a side) or cannot be written.
void write_png(std::ostream& out, const Figure& figure, double scale = 2);

// Writes width × height pixels, row by row from the top, as a PNG: a screenshot. Throws Error as above, and if the
// number of pixels does not match.
void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels);

}  // namespace decoderscope
