#pragma once

#include "app/core/export/figure.h"

#include <iosfwd>

namespace decoderscope {

// Writes a figure as a PDF of one page: shapes as vectors, text as text in faces that are embedded as far as they are
// used. It holds no date, so that the same figure gives the same bytes wherever the fonts are the same. Throws Error
// where it cannot be written.
void write_pdf(std::ostream& out, const Figure& figure);

}  // namespace decoderscope
