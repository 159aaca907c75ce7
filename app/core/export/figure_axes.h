#pragma once

#include "engine/tensor.h"

#include <string>
#include <vector>

namespace decoderscope::figure {

// The size of labels along the axes and in the legend, and their line height.
inline constexpr double label_size = 11;
inline constexpr double line_height = 1.3 * label_size;

// A figure draws at most this many rows and columns; beyond that, each drawn one covers several.
inline constexpr Index most_cells = 1024;

// How large one cell of a heatmap is drawn.
struct CellSize {
    double width = 0, height = 0;
};
// Cells for a picture of a printable size: at most 56 wide, a side of about 640 and at most 1,024. They are square
// unless the picture would be a sliver.
[[nodiscard]] CellSize cell_size(Index rows, Index columns);

// The labels of one axis, thinned so that no two touch.
struct AxisLabels {
    Index stride = 1;                // every stride-th row or column has a label
    bool vertical = false;           // read from bottom to top
    std::vector<std::string> texts;  // of rows or columns 0, stride, 2·stride, …; elided
    double reach = 0;                // how far they reach away from the cells
};

// Labels to the left of rows that are `pitch` apart. Mere indices are thinned further, since a few of them say as much.
[[nodiscard]] AxisLabels row_labels(const std::vector<std::string>& labels, double pitch);
// Labels above columns that are `pitch` apart: horizontal if they fit, vertical if they are words that do not.
[[nodiscard]] AxisLabels column_labels(const std::vector<std::string>& labels, double pitch);

}  // namespace decoderscope::figure
