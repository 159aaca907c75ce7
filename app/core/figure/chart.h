#pragma once

#include "engine/graph/plan.h"

#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

// One number of a curve by depth, and the step that it was measured on; of a sweep, by run.
struct DepthPoint {
    double depth = 0.0;  // in blocks: block 2 lies from 2 to 3; of a sweep, the number of the run
    double value = 0.0;
    std::string step;  // "blocks.2.resid_mid"; of a sweep, what was varied: "0.25"
};

struct DepthCurve {
    std::string name;  // "attn_out", "ln1": the same in every block
    Meaning meaning = Meaning::residual;
    Part part = Part::residual_stream;
    std::vector<DepthPoint> points;
};

// The vertical axis of a small chart: round ends, two to four round ticks, linear or logarithmic.
struct ChartAxis {
    double low = 0.0, high = 1.0;  // low < high; both > 0 where `logarithmic`
    bool logarithmic = false;
    std::vector<double> ticks;  // in order, from low to high

    // Position of a finite value: 0 at `low`, 1 at `high`, beyond these for values outside the axis.
    [[nodiscard]] double place(double value) const;
};

// An axis for values from least to most (finite, least <= most). With `may_be_logarithmic` it is logarithmic if all
// values are positive and span a factor of 8 or more. A linear axis includes 0.
[[nodiscard]] ChartAxis chart_axis(double least, double most, bool may_be_logarithmic);

// Layout of a chart of curves by depth, as plain numbers: in pixels for a window, in points for a figure, y downwards.
// The painter chooses strokes, colours and fonts.

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
    Index blocks = 1;                         // the horizontal axis runs from 0 to this; at least 1
    std::span<const std::string> names = {};  // of the places from 0 to `blocks`; empty: their numbers

    [[nodiscard]] double x(double depth) const { return box.x + depth / static_cast<double>(blocks) * box.width; }
    // Values outside the axis are clamped to its ends.
    [[nodiscard]] double y(double value) const;

    [[nodiscard]] std::vector<ChartLabel> ticks() const;
    // What stands at a place of the horizontal axis.
    [[nodiscard]] std::string label(Index place) const;
    [[nodiscard]] std::string longest_label() const;
    // The labels of its places, thinned so that each has `room`.
    [[nodiscard]] std::vector<ChartLabel> labels(double room) const;
    // `least_step`: a point nearer than this to the previous one is left out. `dot_room`: the width that a dot takes.
    [[nodiscard]] ChartStroke stroke(const DepthCurve& curve, double least_step, double dot_room) const;
};

}  // namespace decoderscope::core
