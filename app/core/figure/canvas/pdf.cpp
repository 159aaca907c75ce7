// A page's canvas can't draw PDF.
#include "app/core/figure/picture_files.h"

#include "engine/base/error.h"
#include "engine/base/message.h"

namespace decoderscope::core {

Sentence pdf_obstacle() {
    return message(
        "The browser version can't draw a PDF. SVG keeps shapes and text as well; the desktop program writes both.");
}

void write_pdf(std::ostream&, std::span<const Figure>) { throw Error(pdf_obstacle()); }

}  // namespace decoderscope::core
