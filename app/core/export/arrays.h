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
    // Hands the values over in order, in as many pieces as they come in.
    std::function<void(const std::function<void(std::span<const float>)>&)> for_each_piece;

    [[nodiscard]] Index size() const;
};

// A tensor's panels as one array: [row, column] of a single one, [head, row, column] where several heads of it are
// shown. A curve is [point, 2]: depth and value. Names are unique.
[[nodiscard]] std::vector<NamedArray> arrays_of(const Exhibit& exhibit);

// All of them as one, where they have one shape: [layer, head, row, column]. Throws Error where they have not.
[[nodiscard]] NamedArray one_array_of(const Exhibit& exhibit);

}  // namespace decoderscope
