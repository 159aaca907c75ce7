#pragma once

#include "app/core/figure/heatmap.h"
#include "app/views/widgets/widgets.h"

#include <optional>
#include <vector>

namespace decoderscope::views::norms {

// A row of numbers as a strip of upright bars from zero, with its mean as a line and its spread as a band.
struct NumberStrip {
    const char* id;
    const std::vector<float>& values;
    core::Range range;                                 // what the strip spans, from bottom to top
    double mean = 0.0, centre = 0.0, deviation = 0.0;  // the band is around the centre
    ImU32 color = 0;
};

// Draws the strip, one bar per number. If there are more numbers than pixels, each pixel shows the range of its
// numbers.
void draw_number_strip(const Ui& ui, const NumberStrip& strip, Area area);

// The number under the mouse, if any. `clicked` tells whether it was clicked.
[[nodiscard]] std::optional<Index> column_under_mouse(const NumberStrip& strip, Area area, bool& clicked);

}  // namespace decoderscope::views::norms
