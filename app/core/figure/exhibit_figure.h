#pragma once

#include "app/core/figure/exhibit.h"
#include "app/core/figure/figure.h"

namespace decoderscope::core {

// The drawing of everything an exhibit shows: one heatmap, a grid of small ones that share axes and legend, or several
// figures side by side; then its caption. The style's caption is not used.
[[nodiscard]] Figure exhibit_figure(const Exhibit& exhibit, const FigureStyle& style);

// Its parts, one file each.
[[nodiscard]] Figure grid_figure(const Exhibit& exhibit, const FigureStyle& style);
[[nodiscard]] Figure chart_figure(const Chart& chart, const FigureStyle& style);

}  // namespace decoderscope::core
