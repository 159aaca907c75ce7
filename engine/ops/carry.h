#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Passes a tensor on under another name; the values are shared, not copied.   {x} -> same axes
struct Carry {
    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::as_first, .goes_on = true}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Carry&) const = default;
};

}  // namespace decoderscope
