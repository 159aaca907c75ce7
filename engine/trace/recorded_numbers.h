#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace decoderscope::trace {

// Numbers that were recorded, as they are computed with.
using Numbers = std::vector<double>;

// Whether two computations have the same numbers: how far two programs' float32 may be apart, relative to the largest.
[[nodiscard]] inline bool are_same(std::span<const double> a, std::span<const double> b) {
    constexpr double kApart = 1e-4;
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
        apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return a.size() == b.size() && largest > 0.0 && apart <= kApart * largest;
}

// Whether one row of numbers is the other times a number above 0.
[[nodiscard]] bool are_parallel(const auto& a, const auto& b) {
    double product = 0.0, one = 0.0, other = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        product += x * y, one += x * x, other += y * y;
    }
    return a.size() == b.size() && one > 0.0 && other > 0.0 && product > 0.0 &&
           one * other - product * product <= 1e-7 * one * other;
}

}  // namespace decoderscope::trace
