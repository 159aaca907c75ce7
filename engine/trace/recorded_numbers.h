#pragma once

#include "engine/tensor/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace decoderscope::trace {

// Numbers that were recorded, as they are computed with.
using Numbers = std::vector<double>;

// How far two programs' numbers may be apart in the type of a recording, relative to the largest.
[[nodiscard]] inline double usually_apart(std::string_view precision) {
    return precision == "BF16" ? 2e-2 : precision == "F16" ? 3e-3 : 1e-4;
}

// How far the numbers of two computations are apart, relative to the largest; infinitely if there are no numbers, or
// others.
[[nodiscard]] inline double apart(std::span<const double> a, std::span<const double> b) {
    double largest = 0.0, apart = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
        apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return a.size() == b.size() && largest > 0.0 ? apart / largest : std::numeric_limits<double>::infinity();
}
[[nodiscard]] inline bool are_same(std::span<const double> a, std::span<const double> b, double most) {
    return apart(a, b) <= most;
}

// Whether all but a few of a function's numbers are those that were recorded in a smaller type: then it is that one,
// and not another that is alike.
[[nodiscard]] inline bool are_those(std::span<const double> made, std::span<const double> recorded,
                                    std::string_view precision) {
    constexpr std::size_t kOfAll = 20;
    if (precision == "F32") return false;
    const Arithmetic type = precision == "BF16" ? Arithmetic::bfloat16 : Arithmetic::float16;
    std::size_t others = 0;
    for (std::size_t i = 0; i < made.size(); ++i)
        others += rounded(static_cast<float>(made[i]), type) != static_cast<float>(recorded[i]) ? 1U : 0U;
    return kOfAll * others < made.size();
}

// Whether one row of numbers is the other times a number above 0, to within this part of the squares.
[[nodiscard]] bool are_parallel(const auto& a, const auto& b, double most = 1e-7) {
    double product = 0.0, one = 0.0, other = 0.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        product += x * y, one += x * x, other += y * y;
    }
    return a.size() == b.size() && one > 0.0 && other > 0.0 && product > 0.0 &&
           one * other - product * product <= most * one * other;
}

}  // namespace decoderscope::trace
