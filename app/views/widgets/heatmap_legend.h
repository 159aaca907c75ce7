#pragma once

#include "app/core/picture/heatmap.h"
#include "app/views/widgets/widgets.h"

#include <cstdint>

namespace decoderscope {

// What is drawn below a heatmap.
enum class Legend {
    full,  // the colour bar, and what each hatch means
    bar,   // the colour bar only: the hatches are explained next to it
    none,
};

// How many rows of text the legend takes at this width; 0 for none.
[[nodiscard]] int legend_rows(const Ui& ui, const Heatmap& heatmap, Legend legend, float width);

// Draws the colour bar with its exact range, and what each hatch means, from `start` on.
void draw_legend(const Ui& ui, const Heatmap& heatmap, Legend legend, ImVec2 start, float width);

// The hatch for a block of cells that is hidden by several masks at once.
void draw_hatch(const Ui& ui, std::uint8_t causes, Area box, float spacing);

}  // namespace decoderscope
