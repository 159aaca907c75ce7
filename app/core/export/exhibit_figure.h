#pragma once

#include "app/core/export/exhibit.h"
#include "app/core/export/figure.h"

namespace decoderscope {

// The drawing of all that an exhibit shows: one heatmap, a grid of small ones that share axes and legend, or several
// figures side by side; then its caption. The caption of the style is not used.
[[nodiscard]] Figure exhibit_figure(const Exhibit& exhibit, const FigureStyle& style);

// The parts of it, a file each.
[[nodiscard]] Figure grid_figure(const Exhibit& exhibit, const FigureStyle& style);
[[nodiscard]] Figure chart_figure(const Chart& chart, const FigureStyle& style);

}  // namespace decoderscope
