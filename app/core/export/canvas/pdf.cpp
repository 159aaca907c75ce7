// A page's canvas draws no PDF.
#include "app/core/export/pdf.h"

#include "engine/error.h"
#include "engine/message.h"

namespace decoderscope {

Sentence pdf_obstacle() {
    return message("A browser draws no PDF. SVG keeps shapes and text as well; the desktop program writes both.");
}

void write_pdf(std::ostream&, const Figure&) { throw Error(pdf_obstacle()); }

}  // namespace decoderscope
