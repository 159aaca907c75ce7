#pragma once

#include "engine/graph/run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace decoderscope::testing {

// The same shape and the same numbers to the last bit. NaN equals NaN, whatever its sign: when two are multiplied, the
// processor keeps the sign of either, depending on the order of the instruction's operands.
inline bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (a.axes() != b.axes()) return false;
    if (std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0) return true;
    return std::ranges::equal(a.values(), b.values(), [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
    });
}

// The first tensor in which two runs differ; empty if they are the same, name by name and bit by bit.
inline std::string first_difference(const Run& a, const Run& b) {
    const auto& steps = a.plan().steps();
    if (steps.size() != b.plan().steps().size()) return "the number of steps";
    for (const Step& step : steps) {
        if (b.plan()[step.id].name != step.name) return "the name " + step.name;
        if (!same_bits(a.value(step.id), b.value(step.id))) return step.name;
    }
    return {};
}

}  // namespace decoderscope::testing
