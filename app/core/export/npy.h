#pragma once

#include "app/core/heatmap.h"

#include <iosfwd>

namespace decoderscope {

// Writes a heatmap's values as NumPy's NPY 1.0: little-endian float32 in C order, of shape (rows, columns).
void write_npy(std::ostream& out, const Heatmap& heatmap);

}  // namespace decoderscope
