#pragma once

#include "app/core/figure/figure.h"
#include "engine/base/message.h"

#include <iosfwd>

namespace decoderscope::core {

// Why this program can't: empty if it can.
[[nodiscard]] Sentence pdf_obstacle();

// Writes a figure as a one-page PDF: shapes as vectors, text as text, with the used parts of its faces embedded. It
// holds no date, so that the same figure gives the same bytes wherever the fonts are the same. Throws Error if it
// cannot be written.
void write_pdf(std::ostream& out, const Figure& figure);

}  // namespace decoderscope::core
