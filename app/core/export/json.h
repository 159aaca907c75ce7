#pragma once

#include "app/core/heatmap.h"

#include <iosfwd>

namespace decoderscope {

// Writes a heatmap as one JSON object, a row of numbers a line: "tensor", "subtitle", "row_axis", "column_axis", "rows"
// and "columns" (their labels), "scale", "range" [low, high], "values" [row][column], and, where a mask hides any cell,
// "masked" [row][column]: the names of the masks that hide it, [] for none. Numbers are the shortest that read back as
// the same float; "NaN", "Infinity" and "-Infinity" are strings.
void write_json(std::ostream& out, const Heatmap& heatmap);

}  // namespace decoderscope
