#pragma once

#include "app/core/figure/exhibit.h"
#include "app/views/widgets/row_layout.h"

#include <optional>
#include <span>
#include <string>

namespace decoderscope::views {

// What the mouse does with a chart.
struct ChartGesture {
    std::optional<double> depth;  // of the point nearest to the mouse; nothing when the mouse is off the chart
    bool clicked = false;
};

// The colour of an answer's curve on this theme.
[[nodiscard]] ImU32 color_of(const Ui& ui, const core::ChartCurve& curve);
// A short sample of a line, for legends.
void draw_line_sample(const Ui& ui, ImVec2 from, float width, ImU32 color, bool dashed);

// An answer in curves: by depth, or by the run of a sweep. Two runs' lines differ in stroke, not only in colour.
// `marked` is a place of its axis that gets a hair line and dots. Its control has the chart's name as its id.
[[nodiscard]] ChartGesture draw_curves(const Ui& ui, const core::Chart& chart, std::optional<double> marked, Area area);

// Several over one axis, each in its cell of the grid. What the mouse points at in one is marked in all, and its values
// are listed beside the mouse. `marked` is kept by the caller from frame to frame. Returns the step that was clicked,
// of those that `plan` has; over the others it says `elsewhere`.
[[nodiscard]] std::string draw_curves_in_grid(const Ui& ui, std::span<const core::Chart> charts, const Grid& grid,
                                              std::optional<double>& marked, const Plan& plan, const char* elsewhere);

}  // namespace decoderscope::views
