#pragma once

#include "app/views/widgets/heatmap_layout.h"

#include <optional>

// What surrounds a heatmap's cells.
namespace decoderscope {

// The title with the colour of its meaning, and the names of the axes if there is room.
void draw_title(const Ui& ui, const HeatmapDrawing& drawing, Area area);

// Indices are written at even steps, words wherever there is room after the previous one. The label of the column under
// the mouse has priority.
void draw_column_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout, const CellRect& seen,
                        Area area, std::optional<Spot> hovered);

void draw_row_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout, const CellRect& seen,
                     Area area, std::optional<Spot> hovered);

}  // namespace decoderscope
