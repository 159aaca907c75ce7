#include "app/core/export/png.h"

#include "app/core/export/cairo_handle.h"
#include "app/core/export/fonts.h"
#include "app/core/export/text.h"
#include "engine/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope {
namespace {

constexpr double largest_side = 32767;  // of a Cairo image

void check(cairo_status_t status) {
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error(std::string("cannot draw the PNG: ") + cairo_status_to_string(status));
}

// A picture in memory; `format` is CAIRO_FORMAT_RGB24 or _ARGB32.
Cairo<cairo_surface_t> new_image(double width, double height, cairo_format_t format) {
    if (!(width >= 1 && height >= 1 && width <= largest_side && height <= largest_side)) {
        throw Error("cannot draw the PNG: a side must have 1 to 32767 pixels, not " +
                    std::to_string(std::lround(width)) + " × " + std::to_string(std::lround(height)));
    }
    Cairo<cairo_surface_t> image(cairo_image_surface_create(format, static_cast<int>(width), static_cast<int>(height)));
    check(cairo_surface_status(image.get()));
    return image;
}

// Called by Cairo, which is C: no exception may pass.
cairo_status_t append(void* out, const unsigned char* bytes, unsigned int count) noexcept {
    try {
        auto& stream = *static_cast<std::ostream*>(out);
        stream.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));
        return stream ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
    } catch (...) {
        return CAIRO_STATUS_WRITE_ERROR;
    }
}

void write_image(std::ostream& out, cairo_surface_t* image) {
    check(cairo_surface_write_to_png_stream(image, append, &out));
}

// A colour channel times its opacity, as Cairo stores it.
std::uint32_t premultiplied(std::uint8_t channel, std::uint8_t alpha) {
    return (static_cast<std::uint32_t>(channel) * alpha + 127U) / 255U;
}

std::uint32_t argb(Rgba color) {
    return static_cast<std::uint32_t>(color.a) << 24U | premultiplied(color.r, color.a) << 16U |
           premultiplied(color.g, color.a) << 8U | premultiplied(color.b, color.a);
}

// An image of one pixel a colour, row by row.
Cairo<cairo_surface_t> image_of(Index width, Index height, std::span<const Rgba> pixels) {
    const bool opaque = std::all_of(pixels.begin(), pixels.end(), [](Rgba pixel) { return pixel.a == 255; });
    Cairo<cairo_surface_t> image = new_image(static_cast<double>(width), static_cast<double>(height),
                                             opaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32);
    cairo_surface_flush(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    for (Index row = 0; row < height; ++row) {
        auto* line = reinterpret_cast<std::uint32_t*>(cairo_image_surface_get_data(image.get()) + row * stride);
        const auto colors = pixels.subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
        std::transform(colors.begin(), colors.end(), line, argb);
    }
    cairo_surface_mark_dirty(image.get());
    return image;
}

// Characters in a row that one face draws.
struct FaceRun {
    cairo_font_face_t* face = nullptr;
    std::string text;
};

// Draws a figure's primitives onto a Cairo context whose unit is the figure's.
class Pen {
public:
    explicit Pen(cairo_t* cairo) : cairo_(cairo) {
        const Cairo<cairo_font_options_t> options(cairo_font_options_create());
        cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
        cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
        cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
        cairo_set_font_options(cairo_, options.get());
    }

    void operator()(const figure::FilledRectangle& rectangle) {
        use(rectangle.fill);
        outline(rectangle.box);
        cairo_fill(cairo_);
    }

    void operator()(const figure::Line& line) {
        use(line.color);
        cairo_set_line_cap(cairo_, CAIRO_LINE_CAP_SQUARE);
        cairo_set_line_width(cairo_, line.width);
        cairo_move_to(cairo_, line.x1, line.y1);
        cairo_line_to(cairo_, line.x2, line.y2);
        cairo_stroke(cairo_);
    }

    void operator()(const figure::Text& text) {
        cairo_save(cairo_);
        cairo_translate(cairo_, text.x, text.y);
        if (text.vertical) cairo_rotate(cairo_, -std::acos(0.0));
        use(text.color);
        cairo_set_font_size(cairo_, text.size);
        show(runs_of(text), text.anchor);
        cairo_restore(cairo_);
    }

    // One image of a pixel a cell, blown up without smoothing.
    void operator()(const figure::CellGrid& grid) {
        if (grid.rows == 0 || grid.columns == 0) return;
        const Cairo<cairo_surface_t> cells = image_of(grid.columns, grid.rows, grid.colors);
        cairo_save(cairo_);
        cairo_set_antialias(cairo_, CAIRO_ANTIALIAS_NONE);
        outline(grid.box);
        cairo_clip(cairo_);
        cairo_translate(cairo_, grid.box.x, grid.box.y);
        cairo_scale(cairo_, grid.box.width / static_cast<double>(grid.columns),
                    grid.box.height / static_cast<double>(grid.rows));
        cairo_set_source_surface(cairo_, cells.get(), 0, 0);
        cairo_pattern_set_filter(cairo_get_source(cairo_), CAIRO_FILTER_NEAREST);
        cairo_pattern_set_extend(cairo_get_source(cairo_), CAIRO_EXTEND_PAD);
        cairo_paint(cairo_);
        cairo_restore(cairo_);
    }

    void operator()(const figure::HatchedRectangle& rectangle) {
        use(rectangle.color);
        const bool dots = rectangle.hatch == Hatch::dots;
        cairo_set_line_cap(cairo_, dots ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
        cairo_set_line_width(cairo_, figure::stroke_width(rectangle));
        for (const figure::Segment& segment : figure::hatch_segments(rectangle)) {
            cairo_move_to(cairo_, segment.x1, segment.y1);
            cairo_line_to(cairo_, segment.x2, segment.y2);
        }
        cairo_stroke(cairo_);
    }

private:
    void use(Rgba color) {
        cairo_set_source_rgba(cairo_, color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
    }

    void outline(const figure::Box& box) { cairo_rectangle(cairo_, box.x, box.y, box.width, box.height); }

    std::vector<FaceRun> runs_of(const figure::Text& text) {
        std::vector<FaceRun> runs;
        const std::string shown = printable(text.text);
        for (const Utf8Character& character : characters(shown)) {
            if (is_ignorable(character.code)) continue;
            const FaceRun one = run_of(character, text);
            if (runs.empty() || runs.back().face != one.face) runs.push_back({one.face, ""});
            runs.back().text += one.text;
        }
        return runs;
    }

    // What no font here can draw is a box.
    FaceRun run_of(const Utf8Character& character, const figure::Text& text) {
        cairo_font_face_t* face = fonts_.face_for(character.code, text.bold, text.monospace);
        if (face != nullptr) return {face, std::string(character.bytes)};
        return {fonts_.usual_face(text.bold, text.monospace), "□"};
    }

    double advance(const FaceRun& run) {
        cairo_text_extents_t extents;
        cairo_set_font_face(cairo_, run.face);
        cairo_text_extents(cairo_, run.text.c_str(), &extents);
        return extents.x_advance;
    }

    void show(const std::vector<FaceRun>& runs, figure::Anchor anchor) {
        double width = 0;
        for (const FaceRun& run : runs) width += advance(run);
        cairo_move_to(cairo_,
                      anchor == figure::Anchor::start    ? 0
                      : anchor == figure::Anchor::middle ? -width / 2
                                                         : -width,
                      0);
        for (const FaceRun& run : runs) {
            cairo_set_font_face(cairo_, run.face);
            cairo_show_text(cairo_, run.text.c_str());
        }
    }

    cairo_t* cairo_;
    Fonts fonts_;
};

}  // namespace

void write_png(std::ostream& out, const Figure& figure, double scale) {
    const Cairo<cairo_surface_t> image =
        new_image(std::ceil(figure.width * scale), std::ceil(figure.height * scale), CAIRO_FORMAT_RGB24);
    const Cairo<cairo_t> cairo(cairo_create(image.get()));
    cairo_scale(cairo.get(), scale, scale);
    Pen pen(cairo.get());
    pen(figure::FilledRectangle{{0, 0, figure.width + 1, figure.height + 1}, figure.background});
    for (const figure::Primitive& primitive : figure.primitives) std::visit(pen, primitive);
    check(cairo_status(cairo.get()));
    write_image(out, image.get());
}

void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels) {
    if (width < 0 || height < 0 || static_cast<std::size_t>(width * height) != pixels.size()) {
        throw Error("cannot draw the PNG: " + std::to_string(pixels.size()) + " pixels are not " +
                    std::to_string(width) + " × " + std::to_string(height));
    }
    write_image(out, image_of(width, height, pixels).get());
}

}  // namespace decoderscope
