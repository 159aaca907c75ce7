#pragma once

#include "app/core/figure/chart.h"
#include "app/views/widgets/widgets.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::views {

// A curve in a chart. The two runs' lines differ in stroke, not only in colour.
struct ChartLine {
    const core::DepthCurve& curve;
    ImU32 color = 0;
    bool dashed = false;
};

// A small chart of curves by depth, or by the run of a sweep.
struct DepthChart {
    const char* id = "";
    const char* title = "";
    const char* caption = "";  // what is measured, in a few words
    std::vector<ChartLine> lines;
    Index blocks = 1;
    bool may_be_logarithmic = true;
    std::span<const std::string> names = {};  // of the places from 0 to `blocks`; empty: their numbers
    std::span<const double> marks = {};       // depths that have a mark on the axis
};

// What the mouse does with it.
struct ChartGesture {
    std::optional<double> depth;  // of the point nearest to the mouse; nothing when the mouse is off the chart
    bool clicked = false;
};

// Draws the chart into an area. `marked` is a depth to mark with a hair line and dots: the one pointed at in any chart
// of the row.
[[nodiscard]] ChartGesture draw_depth_chart(const Ui& ui, const DepthChart& chart, std::optional<double> marked,
                                            Area area);

// A short sample of a line, for legends.
void draw_line_sample(const Ui& ui, ImVec2 from, float width, ImU32 color, bool dashed);

// The point of a curve that is nearest to a depth; nullptr if it has none.
[[nodiscard]] const core::DepthPoint* nearest_point(const core::DepthCurve& curve, double depth);

}  // namespace decoderscope::views
