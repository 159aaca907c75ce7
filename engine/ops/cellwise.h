#pragma once

#include "engine/base/parallel.h"
#include "engine/tensor/tensor.h"

namespace decoderscope::ops {

// What a number costs in gradients that are computed cell by cell, in multiply-adds.
inline constexpr Index kStraightCost = 8;
inline constexpr Index kCurvedCost = 50;  // with an exponential

// grad · derivative, cell by cell.
template <class Slope>
[[nodiscard]] Tensor scaled(const Tensor& grad, const Slope& slope, Index cost = kStraightCost) {
    Tensor out(grad.axes());
    const float* from = grad.data();
    float* to = out.writable().data();
    in_parallel(out.size(), cost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            to[i] = static_cast<float>(static_cast<double>(from[i]) * slope(static_cast<std::size_t>(i)));
    });
    return out;
}

}  // namespace decoderscope::ops
