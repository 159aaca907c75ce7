#pragma once

#include "app/views/widgets/heatmap_layout.h"

#include <optional>

// What surrounds a heatmap's cells.
namespace decoderscope {

// The title with the colour of its meaning, and the names of the axes if there is room.
void draw_title(const Ui& ui, const HeatmapDrawing& drawing, Area area);

// The cells whose rows and columns are pointed out.
struct PointedOut {
    std::optional<Spot> hovered, selected;
};

// Every column has its label, shortened to the room beside its neighbours' where they crowd. Only labels without room
// for a character, and indices, which can't be shortened, are left out at even steps. Pointed out columns have theirs
// in full.
void draw_column_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout, const CellRect& seen,
                        Area area, const PointedOut& pointed);

void draw_row_labels(const Ui& ui, const HeatmapDrawing& drawing, const HeatmapLayout& layout, const CellRect& seen,
                     Area area, const PointedOut& pointed);

}  // namespace decoderscope
