#pragma once

#include "app/core/export/figure.h"

#include <iosfwd>
#include <string>
#include <string_view>

namespace decoderscope {

// Writes a figure as one self-contained SVG 1.1 document: shapes as vectors, text as text, nothing referred to outside.
// Texts are made printable first, so that the document is valid XML whatever they hold.
void write_svg(std::ostream& out, const Figure& figure);

// What colours text and lines have: the figure's own on its background; or, in a page that has a light and a dark
// theme, those of its variables --text, --quiet and --line, without a background. The figure is a light one then.
enum class SvgColors { fixed, of_page };
// The same as an element of a page.
void write_svg_element(std::ostream& out, const Figure& figure, SvgColors colors);

// Text as XML and HTML can hold it, within an attribute too.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace decoderscope
