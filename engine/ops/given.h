#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Values that were recorded elsewhere, in place of computed ones: a block runs on another program's input.
// {anything, unread} -> the values' axes
struct Given {
    Tensor values;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return values.axes(); }
    [[nodiscard]] Tensor compute(const Operands&, const Axes& axes) const { return values.with_axes(axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const Given& other) const { return values.shares_values_with(other.values); }
};

}  // namespace decoderscope
