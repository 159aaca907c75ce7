// Pictures of figures, drawn by a page's canvas in the page's own fonts.
#include "app/core/figure/picture_files.h"

#include "app/core/figure/said.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"

#include <emscripten/em_js.h>
#include <png.h>

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

// One canvas is drawn on at a time; `paint` is its context while a figure is drawn.
// clang-format off
EM_JS(int, canvas_open, (int width, int height, double scale), {
    if (typeof OffscreenCanvas === 'undefined') return 0;
    const context = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true});
    if (!context) return 0;
    context.scale(scale, scale);
    Module.paint = context;
    return 1;
});
EM_JS(void, canvas_close, (), { Module.paint = null; });
EM_JS(void, canvas_color, (int red, int green, int blue, double alpha), {
    Module.paint.fillStyle = Module.paint.strokeStyle = `rgba(${red},${green},${blue},${alpha})`;
});
EM_JS(void, canvas_fill_box, (double x, double y, double width, double height), {
    Module.paint.fillRect(x, y, width, height);
});
EM_JS(void, canvas_pen, (double width, int cap, double dash), {
    Module.paint.lineWidth = width;
    Module.paint.lineCap = ['butt', 'round', 'square'][cap];
    Module.paint.lineJoin = 'round';
    Module.paint.setLineDash(dash > 0 ? [dash] : []);
});
EM_JS(void, canvas_begin, (), { Module.paint.beginPath(); });
EM_JS(void, canvas_move, (double x, double y), { Module.paint.moveTo(x, y); });
EM_JS(void, canvas_line, (double x, double y), { Module.paint.lineTo(x, y); });
EM_JS(void, canvas_circle, (double x, double y, double radius), { Module.paint.arc(x, y, radius, 0, 2 * Math.PI); });
EM_JS(void, canvas_fill, (), { Module.paint.fill(); });
EM_JS(void, canvas_stroke, (), { Module.paint.stroke(); });
EM_JS(void, canvas_text, (const char* text, double x, double y, double size, int bold, int monospace, int anchor, int vertical), {
    const paint = Module.paint;
    const family = monospace ? "'JetBrains Mono', 'DejaVu Sans Mono', monospace" : 'Inter, Helvetica, Arial, sans-serif';
    paint.save();
    paint.translate(x, y);
    if (vertical) paint.rotate(-Math.PI / 2);
    paint.font = `${bold ? 'bold ' : ""}${size}px ${family}`;
    paint.textAlign = ['left', 'center', 'right'][anchor];
    paint.fillText(UTF8ToString(text), 0, 0);
    paint.restore();
});
// A pixel per cell, enlarged without smoothing.
EM_JS(void, canvas_cells, (const uint8_t* rgba, int columns, int rows, double x, double y, double width, double height), {
    const cells = new OffscreenCanvas(columns, rows);
    const data = new ImageData(new Uint8ClampedArray(HEAPU8.slice(rgba, rgba + 4 * columns * rows)), columns, rows);
    cells.getContext('2d').putImageData(data, 0, 0);
    Module.paint.imageSmoothingEnabled = false;
    Module.paint.drawImage(cells, x, y, width, height);
});
EM_JS(void, canvas_pixels, (uint8_t* rgba, int width, int height), {
    HEAPU8.set(Module.paint.getImageData(0, 0, width, height).data, rgba);
});
// clang-format on

namespace decoderscope::core {
namespace {

// ---- the file

std::string encoded(Index width, Index height, std::span<const Rgba> pixels) {
    static_assert(sizeof(Rgba) == 4 && std::is_trivially_copyable_v<Rgba>);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width);
    image.height = static_cast<png_uint_32>(height);
    image.format = PNG_FORMAT_RGBA;
    png_alloc_size_t size = 0;
    const auto fail = [&] {
        throw Error("cannot draw the {what}: {reason}", {{"what", "PNG"}, {"reason", image.message}});
    };
    if (png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr) == 0) fail();
    std::string file(size, '\0');
    if (png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) == 0) fail();
    file.resize(size);
    return file;
}

// ---- the pen

void use(Rgba color) { canvas_color(color.r, color.g, color.b, color.a / 255.0); }

constexpr int butt = 0, round_end = 1, square = 2;

struct CanvasPen {
    void operator()(const figure::FilledRectangle& rectangle) const {
        use(rectangle.fill);
        canvas_fill_box(rectangle.box.x, rectangle.box.y, rectangle.box.width, rectangle.box.height);
    }
    void operator()(const figure::Line& line) const {
        use(line.color);
        canvas_pen(line.width, square, 0);
        canvas_begin();
        canvas_move(line.x1, line.y1);
        canvas_line(line.x2, line.y2);
        canvas_stroke();
    }
    void operator()(const figure::Polyline& line) const {
        use(line.color);
        canvas_pen(line.width, butt, line.dash);
        canvas_begin();
        for (const figure::Point& point : line.points) canvas_line(point.x, point.y);
        canvas_stroke();
    }
    void operator()(const figure::Circle& circle) const {
        canvas_begin();
        canvas_circle(circle.center.x, circle.center.y, circle.radius);
        use(circle.fill);
        canvas_fill();
        use(circle.edge);
        canvas_pen(circle.edge_width, butt, 0);
        canvas_stroke();
    }
    void operator()(const figure::HatchedRectangle& rectangle) const {
        use(rectangle.color);
        canvas_pen(figure::stroke_width(rectangle), rectangle.hatch == Hatch::dots ? round_end : butt, 0);
        canvas_begin();
        for (const figure::Segment& segment : figure::hatch_segments(rectangle)) {
            canvas_move(segment.x1, segment.y1);
            canvas_line(segment.x2, segment.y2);
        }
        canvas_stroke();
    }
    void operator()(const figure::CellGrid& grid) const {
        if (grid.rows == 0 || grid.columns == 0) return;
        canvas_cells(reinterpret_cast<const std::uint8_t*>(grid.colors.data()), static_cast<int>(grid.columns),
                     static_cast<int>(grid.rows), grid.box.x, grid.box.y, grid.box.width, grid.box.height);
    }
    void operator()(const figure::Text& text) const {
        use(text.color);
        canvas_text(printable(text.text).c_str(), text.x, text.y, text.size, text.bold, text.monospace,
                    static_cast<int>(text.anchor), text.vertical);
    }
};

// The page's canvas, from its beginning to its end.
class Canvas {
public:
    Canvas(int width, int height, double scale) {
        if (canvas_open(width, height, scale) == 0)
            throw Error("cannot draw the PNG: this browser can't provide a canvas of {width} × {height} pixels",
                        {{"width", width}, {"height", height}});
    }
    ~Canvas() { canvas_close(); }
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
};

}  // namespace

void write_png(std::ostream& out, const Figure& figure, double scale) {
    const double across = std::ceil(figure.width * scale), down = std::ceil(figure.height * scale);
    check_picture_size(across, down);
    const int width = static_cast<int>(across), height = static_cast<int>(down);
    std::vector<Rgba> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    {
        const Canvas canvas(width, height, scale);
        const CanvasPen pen;
        pen(figure::FilledRectangle{{0, 0, figure.width + 1, figure.height + 1}, figure.background});
        for (const figure::Primitive& primitive : figure.primitives) std::visit(pen, primitive);
        canvas_pixels(reinterpret_cast<std::uint8_t*>(pixels.data()), width, height);
    }
    out << described_png(encoded(width, height, pixels), english_text(figure.said));
}

void write_png_pixels(std::ostream& out, Index width, Index height, std::span<const Rgba> pixels) {
    check_pixel_count(pixels.size(), width, height);
    check_picture_size(static_cast<double>(width), static_cast<double>(height));
    out << encoded(width, height, pixels);
}

}  // namespace decoderscope::core
