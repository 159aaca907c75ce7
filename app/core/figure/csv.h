#pragma once

#include "app/core/figure/exhibit.h"

#include <iosfwd>
#include <string>

namespace decoderscope::core {

// CSV (RFC 4180, UTF-8). Each value is the shortest text that reads back as the same float; values that are not finite
// are "nan", "inf" and "-inf".

// One field: valid UTF-8, quoted if it has a character that would end it.
[[nodiscard]] std::string csv_field(const std::string& text);

// A heatmap's numbers: a first row of "query\key" and the column labels, then for each row its label and its values.
void write_csv(std::ostream& out, const Heatmap& heatmap);

// Everything an exhibit shows. One heatmap is written as above. Several have one line per cell: tensor, place ("batch
// 0, head 1"), row, column, their labels, value, and what masks it. Curves have one line per point: chart, run, curve,
// step, depth, value.
void write_csv(std::ostream& out, const Exhibit& exhibit);

}  // namespace decoderscope::core
