#pragma once

#include "app/core/figure/exhibit.h"
#include "app/views/widgets/depth_chart.h"
#include "app/views/widgets/row_layout.h"

#include <optional>
#include <span>
#include <string>

namespace decoderscope::views {

// The colour of an answer's curve on this theme.
[[nodiscard]] ImU32 color_of(const Ui& ui, const core::ChartCurve& curve);

// An answer in curves. `marked` is a place of its axis that gets a hair line.
[[nodiscard]] ChartGesture draw_curves(const Ui& ui, const core::Chart& chart, std::optional<double> marked, Area area);

// Several over one axis, each in its cell of the grid. What the mouse points at in one is marked in all, and its values
// are listed beside the mouse. `marked` is kept by the caller from frame to frame. Returns the step that was clicked,
// of those that `plan` has; over the others it says `elsewhere`.
[[nodiscard]] std::string draw_curves_in_grid(const Ui& ui, std::span<const core::Chart> charts, const Grid& grid,
                                              std::optional<double>& marked, const Plan& plan, const char* elsewhere);

}  // namespace decoderscope::views
