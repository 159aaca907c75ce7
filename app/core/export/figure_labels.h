#pragma once

#include "app/core/export/figure_cells.h"

namespace decoderscope::figure {

// What is written along the two axes of a heatmap.

void draw_row_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);
void draw_column_labels(Canvas& canvas, const PlacedHeatmap& placed, const AxisLabels& labels);

// An axis' name in its colour: queries and keys have theirs here too.
[[nodiscard]] Face axis_face(const std::string& name, const Inks& inks);

// The room that a name of the rows takes on their left, and one of the columns above them; 0 where there is none.
[[nodiscard]] double row_name_room(const std::string& name);
[[nodiscard]] double column_name_room(const std::string& name);

// The names of the axes around a box whose labels reach this far. They stay right of `left` and below `top`.
void draw_row_name(Canvas& canvas, const std::string& name, const Box& box, double left, double top);
void draw_column_name(Canvas& canvas, const std::string& name, const Box& box, double reach, double left);

}  // namespace decoderscope::figure
