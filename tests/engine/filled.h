#pragma once

#include "engine/tensor/tensor.h"

#include <algorithm>
#include <vector>

namespace decoderscope::testing {

// A tensor of this shape with unnamed axes, filled with one number: for tests where only the shape matters.
inline Tensor filled(const std::vector<Index>& shape, float value) {
    Axes axes;
    for (const Index size : shape) axes.push_back({"", size});
    Tensor tensor(std::move(axes));
    std::ranges::fill(tensor.writable(), value);
    return tensor;
}

}  // namespace decoderscope::testing
