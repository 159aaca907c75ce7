#include "app/core/export/exhibit_figure.h"
#include "app/core/export/figure_canvas.h"
#include "app/core/picture/chart_axis.h"
#include "app/core/text/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope {

using namespace figure;

namespace {

constexpr double plot_width = 300, plot_height = 180;

// Where the parts of a chart lie.
struct Plot {
    Box box;
    ChartAxis axis;
    double depth = 1;  // the last one

    [[nodiscard]] Point at(const DepthPoint& point) const {
        return {box.x + point.depth / depth * box.width,
                box.bottom() - std::clamp(axis.place(point.value), 0.0, 1.0) * box.height};
    }
};

ChartAxis axis_of(const Chart& chart) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const ChartCurve& curve : chart.curves) {
        for (const DepthPoint& point : curve.curve.points) {
            if (!std::isfinite(point.value)) continue;
            least = std::min(least, point.value);
            most = std::max(most, point.value);
        }
    }
    return least <= most ? chart_axis(least, most, chart.may_be_logarithmic) : chart_axis(0.0, 1.0, false);
}

void draw_ticks(Canvas& canvas, const Plot& plot) {
    const Face face{label_size, canvas.inks().quiet, false, true};
    for (const double tick : plot.axis.ticks) {
        const double y = plot.box.bottom() - plot.axis.place(tick) * plot.box.height;
        canvas.line(plot.box.x, y, plot.box.right(), y, canvas.inks().line);
        canvas.put(
            text_at(short_number_text(tick, 3), plot.box.x - 6, y + half_capital * label_size, face, Anchor::end));
    }
}

// The numbers of the blocks below, thinned as they crowd.
void draw_blocks(Canvas& canvas, const Plot& plot, Index blocks) {
    const Face face{label_size, canvas.inks().quiet, false, true};
    const double room = label_size * text_width_em(std::to_string(blocks), false, true) + 10;
    Index every = 1;
    for (const Index candidate : {1, 2, 3, 6, 12, 24, 48, 96, 192}) {
        every = candidate;
        if (plot.box.width / static_cast<double>(blocks) * static_cast<double>(candidate) >= room) break;
    }
    for (Index block = 0; block <= blocks; block += every) {
        const double x = plot.box.x + static_cast<double>(block) / plot.depth * plot.box.width;
        canvas.line(x, plot.box.bottom(), x, plot.box.bottom() + 4, canvas.inks().line);
        canvas.put(text_at(std::to_string(block), x, plot.box.bottom() + 17, face, Anchor::middle));
    }
    canvas.put(text_at("block", plot.box.x + plot.box.width / 2, plot.box.bottom() + 33,
                       {label_size, canvas.inks().quiet}, Anchor::middle));
}

// A curve in the colour of text is so on any ground.
Rgba color_on(const Canvas& canvas, Rgba color) { return color == inks(false).text ? canvas.inks().text : color; }

// A curve in as many pieces as it has gaps: a number that isn't finite is none.
void draw_curve(Canvas& canvas, const Plot& plot, const ChartCurve& curve) {
    std::vector<Point> piece, all;
    const Rgba color = color_on(canvas, curve.color);
    const auto flush = [&] {
        if (piece.size() > 1) canvas.put(Polyline{piece, 1.75, color, curve.dashed ? 5.0 : 0.0});
        piece.clear();
    };
    for (const DepthPoint& point : curve.curve.points) {
        if (!std::isfinite(point.value)) {
            flush();
            continue;
        }
        piece.push_back(plot.at(point));
        all.push_back(piece.back());
    }
    flush();
    if (all.size() * 14 > static_cast<std::size_t>(plot.box.width)) return;
    const Rgba inside = curve.dashed ? canvas.inks().background : color;
    for (const Point& at : all) canvas.put(Circle{at, 2.5, inside, color, 1.25});
}

}  // namespace

Figure chart_figure(const Chart& chart, const FigureStyle& style) {
    Canvas canvas(style.dark);
    const Index blocks = std::max<Index>(chart.blocks, 1);
    Plot plot{{margin + 46, margin + 46, plot_width, plot_height}, axis_of(chart), static_cast<double>(blocks)};
    canvas.grow(plot.box);
    canvas.put(text_at(chart.title, margin, margin + 12, {title_size, canvas.inks().text, true}));
    const std::string caption = chart.caption + (plot.axis.logarithmic ? ", log" : "");
    canvas.put(text_at(caption, margin, margin + 30, {subtitle_size, canvas.inks().quiet}));
    draw_ticks(canvas, plot);
    draw_blocks(canvas, plot, blocks);
    for (const ChartCurve& curve : chart.curves) draw_curve(canvas, plot, curve);
    return canvas.finished(chart.title);
}

}  // namespace decoderscope
