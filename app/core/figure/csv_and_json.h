#pragma once

#include "app/core/figure/exhibit.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope::core {

// CSV (RFC 4180, UTF-8). Each value is the shortest text that reads back as the same float; values that are not finite
// are "nan", "inf" and "-inf".

// One field: valid UTF-8, quoted if it has a character that would end it.
[[nodiscard]] std::string csv_field(const std::string& text);

// A heatmap's numbers: a first row of "query\key" and the column labels, then for each row its label and its values.
// What `part` says of a cropped one stands in the first field.
void write_csv(std::ostream& out, const Heatmap& heatmap, const std::string& part = "");

// Everything an exhibit shows. One heatmap is written as above. Several have one line per cell: tensor, place ("batch
// 0, head 1"), row, column, their labels, value, and what masks it. Curves have one line per point: chart, run, curve,
// step, depth, value.
void write_csv(std::ostream& out, const Exhibit& exhibit);

// Writes a heatmap as one JSON object: "tensor", "subtitle", "row_axis", "column_axis", "rows" and "columns" (labels),
// "scale", "range", "values" (a list per row) and, if a mask hides some, "masked": a list of causes for each cell.
// Of a cropped one "kept_rows" and "kept_columns" are the numbers that its rows and columns have in the whole picture.
// Numbers read back as the same float; those that are not finite are "NaN", "Infinity" and "-Infinity".
void write_json(std::ostream& out, const Heatmap& heatmap);

// Everything an exhibit shows. One heatmap is written as above, with its "caption"; several as "title", "caption" and
// "heatmaps", a list of such objects; curves as "charts", each with its "curves": run, steps, depths and values.
void write_json(std::ostream& out, const Exhibit& exhibit);

// What hides a cell, for machines: "causal", "window", "padding", "custom", "hand".
[[nodiscard]] std::vector<std::string_view> mask_causes(std::uint8_t hidden);

}  // namespace decoderscope::core
