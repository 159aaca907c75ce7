#pragma once

#include "app/views/widgets/heatmap_view.h"

#include <optional>

namespace decoderscope {

// Where everything of one heatmap lies on the screen.
struct HeatmapLayout {
    Area cells;     // what is seen of the cells
    ImVec2 cell;    // the size of one
    ImVec2 origin;  // where cell (0, 0) starts; outside of `cells` once panned
    float column_labels_y = 0.0F;
    float legend_y = 0.0F;
};

// Where a heatmap lies in an area; keeps the viewport on the matrix.
[[nodiscard]] HeatmapLayout lay_out(const Ui& ui, const HeatmapDrawing& drawing, Viewport& view, Area area);

// Where some cells lie on the screen.
[[nodiscard]] Area box_of(const HeatmapLayout& layout, const CellRect& cells);
// The cells that are at least partly seen.
[[nodiscard]] CellRect seen_cells(const HeatmapLayout& layout, const Heatmap& heatmap);
// The cell at a point of the screen.
[[nodiscard]] std::optional<Spot> spot_at(const HeatmapLayout& layout, const Heatmap& heatmap, ImVec2 point);

// How high the drawing of a heatmap comes out in an area of this width and at most this height, unzoomed.
[[nodiscard]] float fitted_height(const Ui& ui, const Heatmap& heatmap, float width, float most);

}  // namespace decoderscope
