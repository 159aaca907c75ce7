#include "app/core/figure/picture_files.h"

#include "app/core/figure/cairo/cairo_pen.h"

#include <cmath>
#include <ostream>

namespace decoderscope::core {
namespace {

void write_image(std::ostream& out, cairo_surface_t* image) {
    check_cairo(cairo_surface_write_to_png_stream(image, append_to_stream, &out), "PNG");
}

}  // namespace

void write_png(std::ostream& out, const Figure& figure, double scale) {
    const Cairo<cairo_surface_t> image =
        new_image(std::ceil(figure.width * scale), std::ceil(figure.height * scale), CAIRO_FORMAT_RGB24);
    const Cairo<cairo_t> cairo(cairo_create(image.get()));
    cairo_scale(cairo.get(), scale, scale);
    Pen(cairo.get(), CellsAs::picture).draw(figure);
    check_cairo(cairo_status(cairo.get()), "PNG");
    write_image(out, image.get());
}

void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels) {
    check_pixel_count(pixels.size(), width, height);
    write_image(out, image_of(width, height, pixels).get());
}

}  // namespace decoderscope::core
