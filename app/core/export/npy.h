#pragma once

#include "app/core/export/arrays.h"

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace decoderscope {

// NumPy's NPY 1.0: the header of an array of this shape, and values as little-endian float32 in C order.
[[nodiscard]] std::string npy_header(const std::vector<Index>& shape);
[[nodiscard]] std::string npy_values(std::span<const float> values);

// Writes an array as NPY.
void write_npy(std::ostream& out, const NamedArray& array);
// A heatmap's values, of shape (rows, columns).
void write_npy(std::ostream& out, const Heatmap& heatmap);

}  // namespace decoderscope
