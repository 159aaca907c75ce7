#pragma once

#include "engine/tensor/tensor.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope::testing {

// The largest |a − b| of two tensors of one size. Equal infinities and two NaN don't differ; NaN and a number do,
// without end.
inline double largest_difference(const Tensor& a, const Tensor& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (Index i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(a.data()[i]), y = static_cast<double>(b.data()[i]);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, std::abs(x - y));
    }
    return largest;
}

}  // namespace decoderscope::testing
