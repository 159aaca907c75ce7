#pragma once

#include "app/core/figure/exhibit.h"

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// Writes a heatmap as one JSON object: "tensor", "subtitle", "row_axis", "column_axis", "rows" and "columns" (labels),
// "scale", "range", "values" (a list per row) and, if a mask hides some, "masked": a list of causes for each cell.
// Numbers read back as the same float; those that are not finite are "NaN", "Infinity" and "-Infinity".
void write_json(std::ostream& out, const Heatmap& heatmap);

// Everything an exhibit shows. One heatmap is written as above, with its "caption"; several as "title", "caption" and
// "heatmaps", a list of such objects; curves as "charts", each with its "curves": run, steps, depths and values.
void write_json(std::ostream& out, const Exhibit& exhibit);

// What hides a cell, for machines: "causal", "window", "padding", "custom", "hand".
[[nodiscard]] std::vector<std::string_view> mask_causes(std::uint8_t hidden);

}  // namespace decoderscope::core
