#pragma once

#include "app/core/export/figure_canvas.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace decoderscope::figure {

// A heatmap and where its cells lie in a figure.
struct PlacedHeatmap {
    const Heatmap& heatmap;
    Box box;
    CellSize cell;
    ColorMap map = ColorMap::viridis;
    bool dark = false;
    Index most = most_cells;  // rows and columns drawn at most; beyond that, each covers several

    [[nodiscard]] double row_middle(Index row) const { return box.y + (static_cast<double>(row) + 0.5) * cell.height; }
    [[nodiscard]] double column_middle(Index column) const {
        return box.x + (static_cast<double>(column) + 0.5) * cell.width;
    }
    [[nodiscard]] Index drawn_rows() const { return std::min(heatmap.rows, most); }
    [[nodiscard]] Index drawn_columns() const { return std::min(heatmap.columns, most); }
    [[nodiscard]] bool is_reduced() const { return drawn_rows() < heatmap.rows || drawn_columns() < heatmap.columns; }
    [[nodiscard]] double smaller_side() const { return std::min(cell.width, cell.height); }
};

// The cells, the hatches of the masks over them, and the lines between them if they are large.
void draw_cells(Canvas& canvas, const PlacedHeatmap& placed);
// The numbers in the cells, if there is room for them.
void draw_numbers(Canvas& canvas, const PlacedHeatmap& placed);
// A box hatched like the cells that these masks hide.
void draw_hatch(Canvas& canvas, const Box& box, std::uint8_t causes, double spacing, bool dark);
// The distance between the lines of a hatch on these cells.
[[nodiscard]] double hatch_spacing(const PlacedHeatmap& placed);

// The note of a figure that shows fewer cells than there are.
[[nodiscard]] std::string reduction_note(const PlacedHeatmap& placed);

}  // namespace decoderscope::figure
