#include "app/core/export/figure_canvas.h"

#include "app/core/text/text_width.h"
#include "app/core/text/utf8.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace decoderscope::figure {
namespace {

constexpr double longest_heading = 720, least_caption_width = 480;

// Moves a primitive of any kind.
struct Mover {
    double x, y;

    void operator()(FilledRectangle& rectangle) const { move(rectangle.box); }
    void operator()(CellGrid& grid) const { move(grid.box); }
    void operator()(HatchedRectangle& rectangle) const { move(rectangle.box); }
    void operator()(Text& text) const {
        text.x += x;
        text.y += y;
    }
    void operator()(Line& line) const {
        line.x1 += x;
        line.x2 += x;
        line.y1 += y;
        line.y2 += y;
    }
    void operator()(Polyline& line) const {
        for (Point& point : line.points) move(point);
    }
    void operator()(Circle& circle) const { move(circle.center); }
    void move(Point& point) const {
        point.x += x;
        point.y += y;
    }
    void move(Box& box) const {
        box.x += x;
        box.y += y;
    }
};

}  // namespace

Inks inks(bool dark) {
    if (dark)
        return {{0x16, 0x18, 0x1C, 255}, {0xE8, 0xEA, 0xED, 255}, {0xA4, 0xAB, 0xB3, 255}, {0x5A, 0x60, 0x68, 255}};
    return {{255, 255, 255, 255}, {0x1B, 0x1F, 0x24, 255}, {0x56, 0x5D, 0x66, 255}, {0x8E, 0x95, 0x9D, 255}};
}

Text text_at(std::string text, double x, double y, const Face& face, Anchor anchor) {
    return {std::move(text), x, y, face.size, face.color, anchor, face.bold, face.monospace, false};
}

Text upright(Text text) {
    text.vertical = true;
    return text;
}

void Canvas::grow(const Box& box) {
    right_ = std::max(right_, box.right());
    bottom_ = std::max(bottom_, box.bottom());
}

void Canvas::put(Text text) {
    grow(text_box(text));
    figure_.primitives.emplace_back(std::move(text));
}

void Canvas::put(const FilledRectangle& rectangle) {
    grow(rectangle.box);
    figure_.primitives.emplace_back(rectangle);
}

void Canvas::put(CellGrid grid) {
    grow(grid.box);
    figure_.primitives.emplace_back(std::move(grid));
}

void Canvas::put(const HatchedRectangle& rectangle) { figure_.primitives.emplace_back(rectangle); }

void Canvas::put(const Line& line) { figure_.primitives.emplace_back(line); }

void Canvas::put(Polyline line) { figure_.primitives.emplace_back(std::move(line)); }

void Canvas::put(const Circle& circle) { figure_.primitives.emplace_back(circle); }

void Canvas::line(double x1, double y1, double x2, double y2, Rgba color) { put(Line{x1, y1, x2, y2, hair, color}); }

void Canvas::frame(const Box& box) {
    line(box.x, box.y, box.right(), box.y, inks_.line);
    line(box.right(), box.y, box.right(), box.bottom(), inks_.line);
    line(box.right(), box.bottom(), box.x, box.bottom(), inks_.line);
    line(box.x, box.bottom(), box.x, box.y, inks_.line);
}

void Canvas::put(Figure other, double x, double y) {
    for (Primitive& primitive : other.primitives) {
        std::visit(Mover{x, y}, primitive);
        figure_.primitives.push_back(std::move(primitive));
    }
    grow({x, y, other.width - margin, other.height - margin});
}

double Canvas::paragraph(const std::string& text, double x, double y, double width, const Face& face) {
    const auto fits = [&](const std::string& line) {
        return face.size * text_width_em(line, face.bold, face.monospace) <= width;
    };
    const auto flush = [&](const std::string& line) {
        if (line.empty()) return;
        put(text_at(elided(line, width / face.size, face.bold, face.monospace), x, y, face));
        y += 1.4 * face.size;
    };
    const std::string all = printable(text);
    std::string line;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find(' ', at), all.size());
        const std::string word = all.substr(at, end - at);
        const std::string longer = line.empty() ? word : line + " " + word;
        if (!line.empty() && !fits(longer)) {
            flush(line);
            line = word;
        } else {
            line = longer;
        }
        at = end + 1;
    }
    flush(line);
    return y;
}

double heading_bottom(const std::string& title, const std::string& subtitle) {
    return margin + (title.empty() ? 0 : 18) + (subtitle.empty() ? 0 : 18);
}

double Canvas::heading(const std::string& title, const std::string& subtitle) {
    const double room = std::max(longest_heading, right_ - margin);
    const auto fitting = [room](const std::string& text, const Face& face) {
        return elided(printable(text), room / face.size, face.bold, face.monospace);
    };
    const Face large{title_size, inks_.text, true, true};
    const Face small{subtitle_size, inks_.quiet};
    const double end = heading_bottom(title, subtitle);
    if (!title.empty()) put(text_at(fitting(title, large), margin, margin + 12, large));
    if (!subtitle.empty()) put(text_at(fitting(subtitle, small), margin, end - 6, small));
    return end;
}

void draw_caption(Canvas& canvas, const std::string& caption) {
    if (caption.empty()) return;
    const double width = std::max(least_caption_width, canvas.right() - margin);
    canvas.paragraph(caption, margin, canvas.bottom() + 22, width, {label_size, canvas.inks().quiet});
}

Figure Canvas::finished(const std::string& name) {
    figure_.width = std::ceil(right_ + margin);
    figure_.height = std::ceil(bottom_ + margin);
    figure_.background = inks_.background;
    figure_.name = printable(name);
    return std::exchange(figure_, {});
}

}  // namespace decoderscope::figure
