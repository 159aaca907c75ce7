#pragma once

#include "app/views/widgets/heatmap_view.h"

#include <span>
#include <string>

namespace decoderscope {

struct TooltipLine {
    ImFont* font;
    ImU32 color;
    std::string text;
};

// Shows lines about the hovered cell of a heatmap. They cover neither the cell nor its row and column: they are below
// the picture, above it, or, if there is no room, in the part of it that is furthest from the cell. To the right they
// don't reach beyond the picture, where a click is explained.
void draw_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, std::span<const TooltipLine> lines);

// Gives the next tooltip that place; for one of about so many lines.
void place_cell_tooltip(const Ui& ui, const HeatmapGesture& gesture, int lines);

}  // namespace decoderscope
