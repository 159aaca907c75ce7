#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Keeps numbers between −cap and cap: cap · tanh(x / cap), which leaves small ones nearly as they are (Gemma 2, 2024).
// {x} -> the same axes
struct SoftCap {
    double cap = 50.0;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Elementwise: the output changes exactly where x changes, columns included.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const SoftCap&) const = default;
};

}  // namespace decoderscope
