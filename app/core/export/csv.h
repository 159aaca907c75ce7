#pragma once

#include "app/core/export/exhibit.h"

#include <iosfwd>

namespace decoderscope {

// CSV (RFC 4180, UTF-8). A value is the shortest text that reads back as the same float; "nan", "inf" and "-inf" are
// the others.

// A heatmap's numbers: a first row "query\key" and the column labels, then for each row its label and its values.
void write_csv(std::ostream& out, const Heatmap& heatmap);

// All that an exhibit shows. One heatmap is written as above; of several, a line a cell: tensor, place ("batch 0, head
// 1"), row, column, their labels, value, and by what it is masked. Of curves a line a point: chart, run, curve, step,
// depth, value.
void write_csv(std::ostream& out, const Exhibit& exhibit);

}  // namespace decoderscope
