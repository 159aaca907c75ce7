#pragma once

#include "app/core/export/arrays.h"

#include <iosfwd>

namespace decoderscope {

// Writes arrays as NumPy's NPZ: a zip with one uncompressed .npy per array and without dates, so that the same arrays
// give the same bytes. One array at a time is in memory. Throws Error if it cannot be written.
void write_npz(std::ostream& out, const std::vector<NamedArray>& arrays);

}  // namespace decoderscope
