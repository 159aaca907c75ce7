#pragma once

#include "app/core/figure/figure.h"

#include <iosfwd>
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

}  // namespace decoderscope::core
