#pragma once

#include "app/views/widgets/heatmap_view.h"

#include <optional>

namespace decoderscope {

// Where the parts of a heatmap are on the screen.
struct HeatmapLayout {
    Area cells;     // the visible part of the cells
    ImVec2 cell;    // the size of one
    ImVec2 origin;  // where cell (0, 0) starts; outside `cells` once panned
    float column_labels_y = 0.0F;
    float legend_y = 0.0F;
};

// Lays out a heatmap in an area; keeps the viewport on the matrix.
[[nodiscard]] HeatmapLayout lay_out(const Ui& ui, const HeatmapDrawing& drawing, Viewport& view, Area area);

// Where some cells are on the screen.
[[nodiscard]] Area box_of(const HeatmapLayout& layout, const CellRect& cells);
// The cells that are at least partly visible.
[[nodiscard]] CellRect seen_cells(const HeatmapLayout& layout, const Heatmap& heatmap);
// The cell at a point of the screen.
[[nodiscard]] std::optional<Spot> spot_at(const HeatmapLayout& layout, const Heatmap& heatmap, ImVec2 point);

// The height of an unzoomed heatmap in an area of this width and at most this height.
[[nodiscard]] float fitted_height(const Ui& ui, const Heatmap& heatmap, float width, float most);

}  // namespace decoderscope
