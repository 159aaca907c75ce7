// Figures as PNG and PDF, drawn by Cairo.
#include "app/core/figure/picture_files.h"

#include "app/core/figure/cairo/figure_fonts.h"
#include "app/core/figure/figure.h"
#include "app/core/figure/said.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"

#include <cairo-pdf.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace decoderscope::core {
namespace {

// A colour channel times its opacity, as Cairo stores it.
std::uint32_t premultiplied(std::uint8_t channel, std::uint8_t alpha) {
    return (static_cast<std::uint32_t>(channel) * alpha + 127U) / 255U;
}

std::uint32_t argb(Rgba color) {
    return static_cast<std::uint32_t>(color.a) << 24U | premultiplied(color.r, color.a) << 16U |
           premultiplied(color.g, color.a) << 8U | premultiplied(color.b, color.a);
}

// Throws Error if Cairo failed: "cannot draw the PNG: …".
void check_cairo(cairo_status_t status, const char* what) {
    if (status != CAIRO_STATUS_SUCCESS)
        throw Error("cannot draw the {what}: {reason}", {{"what", what}, {"reason", cairo_status_to_string(status)}});
}

// Cairo's callback for the bytes that it writes; `out` is a std::ostream. Cairo is C: no exception may escape into it.
cairo_status_t append_to_stream(void* out, const unsigned char* bytes, unsigned int count) noexcept {
    try {
        auto& stream = *static_cast<std::ostream*>(out);
        stream.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));
        return stream ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
    } catch (...) {
        return CAIRO_STATUS_WRITE_ERROR;
    }
}

// An empty image, and one with a pixel per colour, row by row. Throws Error if a side exceeds Cairo's 32,767 pixels.
Cairo<cairo_surface_t> new_image(double width, double height, cairo_format_t format) {
    check_picture_size(width, height);
    Cairo<cairo_surface_t> image(cairo_image_surface_create(format, static_cast<int>(width), static_cast<int>(height)));
    check_cairo(cairo_surface_status(image.get()), "PNG");
    return image;
}

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

// How a pen draws cells: as one picture with a pixel per cell, or as one rectangle each.
enum class CellsAs { picture, rectangles };

// Draws a figure's primitives onto a Cairo context whose unit is the figure's.
class Pen {
public:
    Pen(cairo_t* cairo, CellsAs cells) : cairo_(cairo), cells_(cells) {
        const Cairo<cairo_font_options_t> options(cairo_font_options_create());
        cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
        cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
        cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
        cairo_set_font_options(cairo_, options.get());
    }

    // The background and everything on it.
    void draw(const Figure& figure) {
        (*this)(figure::FilledRectangle{{0, 0, figure.width + 1, figure.height + 1}, figure.background});
        for (const figure::Primitive& primitive : figure.primitives) std::visit(*this, primitive);
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

    void operator()(const figure::Polyline& line) {
        cairo_save(cairo_);
        use(line.color);
        cairo_set_line_cap(cairo_, CAIRO_LINE_CAP_BUTT);
        cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(cairo_, &line.dash, line.dash > 0 ? 1 : 0, 0);
        cairo_set_line_width(cairo_, line.width);
        cairo_new_path(cairo_);
        for (const figure::Point& point : line.points) cairo_line_to(cairo_, point.x, point.y);
        cairo_stroke(cairo_);
        cairo_restore(cairo_);
    }

    void operator()(const figure::Circle& circle) {
        cairo_new_path(cairo_);
        cairo_arc(cairo_, circle.center.x, circle.center.y, circle.radius, 0, 4 * std::acos(0.0));
        use(circle.fill);
        cairo_fill_preserve(cairo_);
        use(circle.edge);
        cairo_set_line_width(cairo_, circle.edge_width);
        cairo_stroke(cairo_);
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

    void operator()(const figure::CellGrid& grid) {
        if (grid.rows == 0 || grid.columns == 0) return;
        if (cells_ == CellsAs::picture)
            draw_picture(grid);
        else
            draw_rectangles(grid);
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

private:
    // Consecutive characters that one face draws.
    struct FaceRun {
        cairo_font_face_t* face = nullptr;
        std::string text;
    };

    void use(Rgba color) {
        cairo_set_source_rgba(cairo_, color.r / 255.0, color.g / 255.0, color.b / 255.0, color.a / 255.0);
    }

    void outline(const figure::Box& box) { cairo_rectangle(cairo_, box.x, box.y, box.width, box.height); }

    // One image with a pixel per cell, enlarged without smoothing.
    void draw_picture(const figure::CellGrid& grid) {
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

    // A rectangle for each run of one colour. Each reaches a little under its neighbours to the right and below, which
    // are drawn over it: without this overlap, smoothed edges would let the page show between the cells.
    void draw_rectangles(const figure::CellGrid& grid) {
        const double width = grid.box.width / static_cast<double>(grid.columns),
                     height = grid.box.height / static_cast<double>(grid.rows);
        const auto reach = [](double side, Index end, Index count) { return end < count ? side * 0.25 : 0.0; };
        for (Index row = 0; row < grid.rows; ++row) {
            const Rgba* colors = grid.colors.data() + row * grid.columns;
            for (Index column = 0; column < grid.columns;) {
                Index end = column + 1;
                while (end < grid.columns && colors[end] == colors[column]) ++end;
                use(colors[column]);
                outline({grid.box.x + static_cast<double>(column) * width,
                         grid.box.y + static_cast<double>(row) * height,
                         static_cast<double>(end - column) * width + reach(width, end, grid.columns),
                         height + reach(height, row + 1, grid.rows)});
                cairo_fill(cairo_);
                column = end;
            }
        }
    }

    // Characters that no font here can draw become boxes.
    std::vector<FaceRun> runs_of(const figure::Text& text) {
        std::vector<FaceRun> runs;
        const std::string shown = printable(text.text);
        for (const Utf8Character& character : characters(shown)) {
            if (is_ignorable(character.code)) continue;
            cairo_font_face_t* face = fonts_.face_for(character.code, text.bold, text.monospace);
            const std::string drawn = face != nullptr ? std::string(character.bytes) : "□";
            if (face == nullptr) face = fonts_.usual_face(text.bold, text.monospace);
            if (runs.empty() || runs.back().face != face) runs.push_back({face, ""});
            runs.back().text += drawn;
        }
        return runs;
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
        const double start = anchor == figure::Anchor::start    ? 0
                             : anchor == figure::Anchor::middle ? -width / 2
                                                                : -width;
        cairo_move_to(cairo_, start, 0);
        for (const FaceRun& run : runs) {
            cairo_set_font_face(cairo_, run.face);
            cairo_show_text(cairo_, run.text.c_str());
        }
    }

    cairo_t* cairo_;
    CellsAs cells_;
    FigureFonts fonts_;
};

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
    std::ostringstream file;
    write_image(file, image.get());
    out << described_png(file.str(), english_text(figure.said));
}

void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels) {
    check_pixel_count(pixels.size(), width, height);
    write_image(out, image_of(width, height, pixels).get());
}

Sentence pdf_obstacle() { return {}; }

void write_pdf(std::ostream& out, std::span<const Figure> pages) {
    constexpr double points = 0.75;  // per figure unit: 1/72 inch per 1/96 inch
    const Figure& first = pages.front();
    const Cairo<cairo_surface_t> file(
        cairo_pdf_surface_create_for_stream(append_to_stream, &out, first.width * points, first.height * points));
    check_cairo(cairo_surface_status(file.get()), "PDF");
    // Newer ones pack their objects, so that not every program reads them, and cairo 1.18 would write one.
    cairo_pdf_surface_restrict_to_version(file.get(), CAIRO_PDF_VERSION_1_4);
    cairo_pdf_surface_set_metadata(file.get(), CAIRO_PDF_METADATA_TITLE, first.name.c_str());
    cairo_pdf_surface_set_metadata(file.get(), CAIRO_PDF_METADATA_SUBJECT, english_text(first.said).c_str());
    cairo_pdf_surface_set_metadata(file.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
    for (const Figure& page : pages) {
        cairo_pdf_surface_set_size(file.get(), page.width * points, page.height * points);
        const Cairo<cairo_t> cairo(cairo_create(file.get()));
        cairo_scale(cairo.get(), points, points);
        Pen(cairo.get(), cells_as_pictures(page) ? CellsAs::picture : CellsAs::rectangles).draw(page);
        cairo_show_page(cairo.get());
        check_cairo(cairo_status(cairo.get()), "PDF");
    }
    cairo_surface_finish(file.get());
    check_cairo(cairo_surface_status(file.get()), "PDF");
}

}  // namespace decoderscope::core
