#pragma once

#include "app/core/picture/chart_axis.h"
#include "app/core/picture/depth_curve.h"

#include <span>
#include <string>
#include <vector>

// Layout of a chart of curves by depth, as plain numbers: in pixels for a window, in points for a figure, y downwards.
// The painter chooses strokes, colours and fonts.
namespace decoderscope {

struct ChartSpot {
    double x = 0.0, y = 0.0;
};

// The rectangle that the curves are drawn in.
struct ChartBox {
    double x = 0.0, y = 0.0, width = 0.0, height = 0.0;

    [[nodiscard]] double bottom() const { return y + height; }
};

// An axis label and its position: a y on the vertical axis, an x on the horizontal one.
struct ChartLabel {
    double at = 0.0;
    std::string text;
};

// The vertical axis that holds all finite values of these curves; 0 to 1 if there are none.
[[nodiscard]] ChartAxis axis_of_curves(std::span<const DepthCurve* const> curves, bool may_be_logarithmic);
// The label of a tick.
[[nodiscard]] std::string tick_text(double tick);

// A curve is stroked in pieces: each non-finite number is a gap. A dot marks each point if there is room for dots.
struct ChartStroke {
    std::vector<std::vector<ChartSpot>> pieces;  // each of two points or more
    std::vector<ChartSpot> dots;
};

struct ChartPlot {
    ChartBox box;
    ChartAxis axis;
    Index blocks = 1;  // the horizontal axis runs from 0 to this; at least 1

    [[nodiscard]] double x(double depth) const { return box.x + depth / static_cast<double>(blocks) * box.width; }
    // Values outside the axis are clamped to its ends.
    [[nodiscard]] double y(double value) const;

    [[nodiscard]] std::vector<ChartLabel> ticks() const;
    // The numbers of the blocks, thinned so that each has `room`.
    [[nodiscard]] std::vector<ChartLabel> block_numbers(double room) const;
    // `least_step`: a point nearer than this to the previous one is left out. `dot_room`: the width that a dot takes.
    [[nodiscard]] ChartStroke stroke(const DepthCurve& curve, double least_step, double dot_room) const;
};

}  // namespace decoderscope
