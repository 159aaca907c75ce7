#include "app/core/figure/figure_canvas.h"

#include "app/core/text/characters.h"
#include "app/core/text/numbers.h"
#include "app/core/text/text_layout.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace decoderscope::core::figure {

namespace {

constexpr double longest_label = 120;
constexpr double slimmest_side = 120;

// The size of a cell along a side of `count` cells, ignoring the other side.
double cell_side(Index count) {
    constexpr double largest = 56, side = 640, longest_side = 1024;
    const auto cells = static_cast<double>(std::max<Index>(count, 1));
    const double size = std::max(side / cells, std::min(2.0, longest_side / cells));
    if (size >= 4) return std::min(largest, std::floor(size));
    return size >= 1 ? std::floor(2 * size) / 2 : size;
}

double widest(const std::vector<std::string>& labels) {
    double width = 0;
    for (const std::string& label : labels) width = std::max(width, label_size * text_width_em(label, false, false));
    return width;
}

// The next number whose multiples are easy to count.
Index round_stride(double needed) {
    for (Index scale = 1;; scale *= 10) {
        for (const Index step : {1, 2, 4, 5, 8}) {
            if (static_cast<double>(scale * step) >= needed) return scale * step;
        }
    }
}

bool are_indices(const std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] != std::to_string(i)) return false;
    }
    return true;
}

// The labels as they would be drawn if there were room for all.
std::vector<std::string> drawable(const std::vector<std::string>& labels) {
    std::vector<std::string> texts;
    texts.reserve(labels.size());
    for (const std::string& label : labels) {
        texts.push_back(elided(printable(label), longest_label / label_size, false, false));
    }
    return texts;
}

std::vector<std::string> thinned(const std::vector<std::string>& texts, Index stride) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < texts.size(); i += static_cast<std::size_t>(stride)) kept.push_back(texts[i]);
    return kept;
}

// Labels that each take `room` along the axis.
AxisLabels stacked(const std::vector<std::string>& texts, double pitch, double room) {
    AxisLabels axis;
    axis.stride = round_stride(room / pitch);
    axis.texts = thinned(texts, axis.stride);
    axis.reach = widest(axis.texts);
    return axis;
}

constexpr double longest_heading = 720, least_caption_width = 480;

// Makes a primitive of any kind larger or smaller, about the origin, then moves it.
struct Placer {
    double by = 1, right = 0, down = 0;

    void operator()(FilledRectangle& rectangle) const { place(rectangle.box); }
    void operator()(CellGrid& grid) const { place(grid.box); }
    void operator()(HatchedRectangle& rectangle) const {
        place(rectangle.box);
        scale(rectangle.spacing, rectangle.width);
    }
    void operator()(Text& text) const {
        place(text.x, text.y);
        scale(text.size);
    }
    void operator()(Line& line) const {
        place(line.x1, line.y1);
        place(line.x2, line.y2);
        scale(line.width);
    }
    void operator()(Polyline& line) const {
        for (Point& point : line.points) place(point.x, point.y);
        scale(line.width, line.dash);
    }
    void operator()(Circle& circle) const {
        place(circle.center.x, circle.center.y);
        scale(circle.radius, circle.edge_width);
    }
    void place(double& x, double& y) const {
        x = x * by + right;
        y = y * by + down;
    }
    void place(Box& box) const {
        place(box.x, box.y);
        scale(box.width, box.height);
    }
    template <class... Lengths>
    void scale(Lengths&... lengths) const {
        ((lengths *= by), ...);
    }
};

}  // namespace

// Neither higher than a page, if there are many rows, nor a sliver, if there are few.
CellSize cell_size(Index rows, Index columns, double room) {
    if (room > 0) {
        const double width = room / static_cast<double>(std::max<Index>(columns, 1)),
                     count = static_cast<double>(std::max<Index>(rows, 1));
        return {width, std::clamp(width, std::min(room / 8, 56.0) / count, 1.25 * room / count)};
    }
    const CellSize own{cell_side(columns), cell_side(rows)};
    const double square = std::min(own.width, own.height);
    const double slim = static_cast<double>(std::min(rows, columns));
    const bool sliver = square * slim < slimmest_side && std::max(own.width, own.height) > 1.5 * square;
    if (!sliver) return {square, square};
    const double stretched = std::max(square, std::floor(slimmest_side / std::max(slim, 1.0)));
    return {std::min(own.width, columns < rows ? stretched : own.width),
            std::min(own.height, rows < columns ? stretched : own.height)};
}

AxisLabels row_labels(const std::vector<std::string>& labels, double pitch) {
    const bool counts = are_indices(labels) && line_height > pitch;
    return stacked(drawable(labels), pitch, counts ? 2 * line_height : line_height);
}

AxisLabels column_labels(const std::vector<std::string>& labels, double pitch) {
    const std::vector<std::string> texts = drawable(labels);
    const double needed = (widest(texts) + 8) / pitch;
    if (needed > 1 && !are_indices(labels)) {
        AxisLabels upright = stacked(texts, pitch, line_height);
        upright.vertical = true;
        return upright;
    }
    AxisLabels level;
    level.stride = round_stride(needed > 1 ? std::max(needed, 2 * line_height / pitch) : needed);
    level.texts = thinned(texts, level.stride);
    level.reach = label_size;
    return level;
}

Page Page::part(std::size_t count) const {
    const auto parts = static_cast<double>(std::max<std::size_t>(count, 1));
    return {width / parts, room / parts, least_number};
}

// What isn't cells hardly depends on the room for them: each drawing says how much was missing or left, and where that
// leads nowhere, as where a bar ends to follow the cells, the middle between too much and too little is tried.
Figure fitted(const FigureStyle& style, const std::function<Figure(const Page&)>& draw) {
    const double scale = style.font_size / label_size;
    constexpr double points = 96.0 / 72.0, least_pt = 5, near = 0.01, slack = 0.4, least_room = 8;
    Page page{.width = style.width / scale};
    if (page.is_asked() || scale != 1) page.least_number = least_pt * points / scale;
    page.room = page.width;
    Figure figure = draw(page);
    if (page.is_asked()) {
        double fits = 0, exceeds = page.room;
        for (int tries = 0; tries < 24; ++tries) {
            const double left = page.width - figure.width;
            if (left >= -near && left <= slack) break;
            (left < 0 ? exceeds : fits) = page.room;
            const double wanted = page.room + left;
            page.room = std::max(wanted > fits && wanted < exceeds ? wanted : (fits + exceeds) / 2, least_room);
            if (tries > 3) page.room = std::max((fits + exceeds) / 2, least_room);
            figure = draw(page);
        }
        if (figure.width > page.width + near && fits > 0) {
            page.room = fits;
            figure = draw(page);
        }
        if (figure.width > page.width + near) {
            const auto cm = [](double units) { return short_number_text(units / 96 * 2.54, 3); };
            throw Error("{width} cm is too narrow for this figure, expected at least {least} cm",
                        {{"width", cm(style.width)}, {"least", cm(figure.width * scale + 1)}});
        }
        figure.width = page.width;
    }
    if (scale != 1)
        for (Primitive& primitive : figure.primitives) std::visit(Placer{.by = scale}, primitive);
    figure.width *= scale;
    figure.height *= scale;
    return figure;
}

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

void Canvas::put(Primitive primitive) {
    if (const auto* text = std::get_if<Text>(&primitive)) grow(text_box(*text));
    if (const auto* rectangle = std::get_if<FilledRectangle>(&primitive)) grow(rectangle->box);
    if (const auto* grid = std::get_if<CellGrid>(&primitive)) grow(grid->box);
    figure_.primitives.push_back(std::move(primitive));
}

void Canvas::line(double x1, double y1, double x2, double y2, Rgba color) { put(Line{x1, y1, x2, y2, hair, color}); }

void Canvas::frame(const Box& box) {
    line(box.x, box.y, box.right(), box.y, inks_.line);
    line(box.right(), box.y, box.right(), box.bottom(), inks_.line);
    line(box.right(), box.bottom(), box.x, box.bottom(), inks_.line);
    line(box.x, box.bottom(), box.x, box.y, inks_.line);
}

void Canvas::put(Figure other, double x, double y) {
    for (Primitive& primitive : other.primitives) {
        std::visit(Placer{.right = x, .down = y}, primitive);
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
    const double room = text_width(std::max(longest_heading, right_ - margin));
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

void draw_numbered(Canvas& canvas, const std::vector<std::string>& texts) {
    const double width = canvas.text_width(std::max(least_caption_width, canvas.right() - margin));
    double y = canvas.bottom() + 22;
    for (std::size_t i = 0; i < texts.size(); ++i)
        y = canvas.paragraph(std::to_string(i + 1) + " " + texts[i], margin, y, width,
                             {label_size, canvas.inks().text});
}

void draw_caption(Canvas& canvas, const std::string& caption) {
    if (caption.empty()) return;
    const double width = canvas.text_width(std::max(least_caption_width, canvas.right() - margin));
    canvas.paragraph(caption, margin, canvas.bottom() + 22, width, {label_size, canvas.inks().quiet});
}

Figure Canvas::finished(const std::string& name) {
    figure_.width = page_.is_asked() ? right_ + margin : std::ceil(right_ + margin);
    figure_.height = std::ceil(bottom_ + margin);
    figure_.background = inks_.background;
    figure_.name = printable(name);
    return std::exchange(figure_, {});
}

}  // namespace decoderscope::core::figure
