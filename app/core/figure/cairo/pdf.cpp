#include "app/core/figure/picture_files.h"

#include "app/core/figure/cairo/cairo_pen.h"

#include <cairo-pdf.h>

#include <ostream>

namespace decoderscope::core {

Sentence pdf_obstacle() { return {}; }

void write_pdf(std::ostream& out, const Figure& figure) {
    constexpr double points = 0.75;  // per figure unit: 1/72 inch per 1/96 inch
    const Cairo<cairo_surface_t> page(
        cairo_pdf_surface_create_for_stream(append_to_stream, &out, figure.width * points, figure.height * points));
    check_cairo(cairo_surface_status(page.get()), "PDF");
    cairo_pdf_surface_set_metadata(page.get(), CAIRO_PDF_METADATA_TITLE, figure.name.c_str());
    cairo_pdf_surface_set_metadata(page.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    const Cairo<cairo_t> cairo(cairo_create(page.get()));
    cairo_scale(cairo.get(), points, points);
    Pen(cairo.get(), cells_as_pictures(figure) ? CellsAs::picture : CellsAs::rectangles).draw(figure);
    cairo_show_page(cairo.get());
    check_cairo(cairo_status(cairo.get()), "PDF");
    cairo_surface_finish(page.get());
    check_cairo(cairo_surface_status(page.get()), "PDF");
}

}  // namespace decoderscope::core
