#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Rotary positions (Su et al. 2021) in the rotate-half form of Hugging Face's Llama: columns d and d + d_head/2 are the
// two coordinates of a point, turned by the angle pos · theta^(−2d/d_head).
// {q or k [batch, head, pos, d_head]} -> the same axes
struct Rope {
    double theta = 10000.0;
    Index first = 0;  // the position of the first row

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Rope from_row(Index row) const { return {theta, first + row}; }
    bool operator==(const Rope&) const = default;
};

}  // namespace decoderscope
