#include "app/core/export/exhibit_figure.h"
#include "app/core/export/figure_canvas.h"
#include "app/core/picture/chart_layout.h"
#include "app/core/text/text_width.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace decoderscope {

using namespace figure;

namespace {

constexpr double plot_width = 300, plot_height = 180;

ChartAxis axis_of(const Chart& chart) {
    std::vector<const DepthCurve*> curves;
    for (const ChartCurve& curve : chart.curves) curves.push_back(&curve.curve);
    return axis_of_curves(curves, chart.may_be_logarithmic);
}

void draw_ticks(Canvas& canvas, const ChartPlot& plot) {
    const Face face{label_size, canvas.inks().quiet, false, true};
    for (const ChartLabel& tick : plot.ticks()) {
        canvas.line(plot.box.x, tick.at, plot.box.x + plot.box.width, tick.at, canvas.inks().line);
        canvas.put(text_at(tick.text, plot.box.x - 6, tick.at + half_capital * label_size, face, Anchor::end));
    }
}

void draw_blocks(Canvas& canvas, const ChartPlot& plot) {
    const Face face{label_size, canvas.inks().quiet, false, true};
    const double room = label_size * text_width_em(std::to_string(plot.blocks), false, true) + 10;
    for (const ChartLabel& block : plot.block_numbers(room)) {
        canvas.line(block.at, plot.box.bottom(), block.at, plot.box.bottom() + 4, canvas.inks().line);
        canvas.put(text_at(block.text, block.at, plot.box.bottom() + 17, face, Anchor::middle));
    }
    canvas.put(text_at("block", plot.box.x + plot.box.width / 2, plot.box.bottom() + 33,
                       {label_size, canvas.inks().quiet}, Anchor::middle));
}

// A curve in the text's colour keeps the text's colour on any background.
Rgba color_on(const Canvas& canvas, Rgba color) { return color == inks(false).text ? canvas.inks().text : color; }

void draw_curve(Canvas& canvas, const ChartPlot& plot, const ChartCurve& curve) {
    const Rgba color = color_on(canvas, curve.color);
    const ChartStroke stroke = plot.stroke(curve.curve, 0.0, 14.0);
    for (const std::vector<ChartSpot>& piece : stroke.pieces) {
        std::vector<Point> points;
        for (const ChartSpot& spot : piece) points.push_back({spot.x, spot.y});
        canvas.put(Polyline{std::move(points), 1.75, color, curve.dashed ? 5.0 : 0.0});
    }
    const Rgba inside = curve.dashed ? canvas.inks().background : color;
    for (const ChartSpot& spot : stroke.dots) canvas.put(Circle{{spot.x, spot.y}, 2.5, inside, color, 1.25});
}

}  // namespace

Figure chart_figure(const Chart& chart, const FigureStyle& style) {
    Canvas canvas(style.dark);
    const ChartPlot plot{
        {margin + 46, margin + 46, plot_width, plot_height}, axis_of(chart), std::max<Index>(chart.blocks, 1)};
    canvas.grow({plot.box.x, plot.box.y, plot.box.width, plot.box.height});
    canvas.put(text_at(chart.title, margin, margin + 12, {title_size, canvas.inks().text, true}));
    const std::string caption = chart.caption + (plot.axis.logarithmic ? ", log" : "");
    canvas.put(text_at(caption, margin, margin + 30, {subtitle_size, canvas.inks().quiet}));
    draw_ticks(canvas, plot);
    draw_blocks(canvas, plot);
    for (const ChartCurve& curve : chart.curves) draw_curve(canvas, plot, curve);
    return canvas.finished(chart.title);
}

}  // namespace decoderscope
