#pragma once

#include "app/core/export/exhibit.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace decoderscope {

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

// All of them as one, if they have one shape: [layer, head, row, column]. Throws Error if they have not.
[[nodiscard]] NamedArray one_array_of(const Exhibit& exhibit);

}  // namespace decoderscope
