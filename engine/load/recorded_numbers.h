#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace decoderscope::load {

// Numbers that were recorded, as they are computed with.
using Numbers = std::vector<double>;

// Whether two computations have the same numbers: how far two programs' float32 may be apart, relative to the largest.
[[nodiscard]] inline bool are_same(std::span<const double> a, std::span<const double> b) {
    constexpr double kSame = 1e-4;
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
        apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return a.size() == b.size() && largest > 0.0 && apart <= kSame * largest;
}

}  // namespace decoderscope::load
