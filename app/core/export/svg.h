#pragma once

#include "app/core/export/figure.h"

#include <iosfwd>

namespace decoderscope {

// Writes a figure as one self-contained SVG 1.1 document: shapes as vectors, text as text, nothing referred to outside.
// Texts are made printable first, so that the document is valid XML whatever they hold.
void write_svg(std::ostream& out, const Figure& figure);

}  // namespace decoderscope
