#pragma once

#include "app/core/export/figure_cells.h"

namespace decoderscope::figure {

// The labels and names along the two axes of a heatmap.

void draw_row_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);
void draw_column_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);

// The face of an axis name: queries and keys have their own colours here too.
[[nodiscard]] Face axis_face(const std::string& name, const Inks& inks);

// The space that a row axis name takes on the left, and a column axis name above; 0 if there is none.
[[nodiscard]] double row_name_room(const std::string& name);
[[nodiscard]] double column_name_room(const std::string& name);

// The names of the axes around a box; its labels extend by `reach`. They stay right of `left` and below `top`.
void draw_row_name(Canvas& canvas, const std::string& name, const Box& box, double left, double top);
void draw_column_name(Canvas& canvas, const std::string& name, const Box& box, double reach, double left);

}  // namespace decoderscope::figure
