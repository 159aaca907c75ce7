#pragma once

#include "app/core/heatmap.h"

#include <iosfwd>

namespace decoderscope {

// Writes a heatmap's numbers as CSV (RFC 4180, UTF-8): a first row "query\key" and the column labels, then for each row
// its label and its values. A value is the shortest text that reads back as the same float; "nan", "inf" and "-inf" are
// the others.
void write_csv(std::ostream& out, const Heatmap& heatmap);

}  // namespace decoderscope
