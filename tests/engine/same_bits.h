#pragma once

#include "engine/run.h"

#include <cstring>
#include <string>

namespace decoderscope::testing {

// The same shape and the same numbers to the last bit; NaN is NaN.
inline bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.axes() == b.axes() && std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

// The first tensor in which two runs differ; empty where they are the same, name by name and bit by bit.
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
