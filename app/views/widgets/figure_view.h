#pragma once

#include "app/core/figure/figure.h"
#include "app/views/widgets/widgets.h"

#include <cstdint>

namespace decoderscope::views {

// Where a figure is drawn: its origin on the screen, and pixels a unit.
struct PlacedFigure {
    ImVec2 origin;
    float scale = 1.0F;

    [[nodiscard]] ImVec2 at(double x, double y) const {
        return {origin.x + scale * static_cast<float>(x), origin.y + scale * static_cast<float>(y)};
    }
};

// Draws a figure as large as an area has room for, at its middle. `version` is another one whenever the figure is.
PlacedFigure draw_figure(const Ui& ui, const core::Figure& figure, std::uint64_t version, Area area);

}  // namespace decoderscope::views
