#pragma once

#include "engine/graph/plan.h"
#include "engine/tensor/tensor.h"

#include <algorithm>

namespace decoderscope::testing {

// The same names, shapes and numbers.
inline bool same_weights(const Weights& a, const Weights& b) {
    return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
        return one.first == other.first && shape_text(one.second.axes()) == shape_text(other.second.axes()) &&
               std::ranges::equal(one.second.values(), other.second.values());
    });
}

}  // namespace decoderscope::testing
