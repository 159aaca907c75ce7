#pragma once

#include "app/core/figure/exhibit.h"

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::core {

// The numbers of an exhibit as arrays: what is written as NPY, NPZ and safetensors.
struct NamedArray {
    std::string name;          // the tensor's; "stream.Pre-Norm" for a curve
    std::vector<Index> shape;  // row-major
    // Passes on the values in order, in pieces of any size.
    std::function<void(const std::function<void(std::span<const float>)>&)> for_each_piece;

    [[nodiscard]] Index size() const;
};

// A tensor's panels as one array: [row, column] for a single one, [head, row, column] if several heads of it are shown.
// A curve is [point, 2]: depth and value. Names are unique.
[[nodiscard]] std::vector<NamedArray> arrays_of(const Exhibit& exhibit);

// All of them as one, if they have one shape: [layer, head, row, column]. Throws Error if they don't.
[[nodiscard]] NamedArray one_array_of(const Exhibit& exhibit);

// Writes an array as NumPy's NPY 1.0: little-endian float32 in C order.
void write_npy(std::ostream& out, const NamedArray& array);
// A heatmap's values, of shape (rows, columns).
void write_npy(std::ostream& out, const Heatmap& heatmap);

// Writes arrays as NumPy's NPZ: a zip with one uncompressed .npy per array and without dates, so that the same arrays
// give the same bytes. One array at a time is in memory. Throws Error if it cannot be written.
void write_npz(std::ostream& out, const std::vector<NamedArray>& arrays);

}  // namespace decoderscope::core
