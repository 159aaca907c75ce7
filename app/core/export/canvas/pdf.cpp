// A page's canvas draws no PDF.
#include "app/core/export/pdf.h"

#include "engine/error.h"

namespace decoderscope {

void write_pdf(std::ostream&, const Figure&) {
    throw Error("cannot draw the PDF: in a browser only the desktop program does; export an SVG");
}

}  // namespace decoderscope
