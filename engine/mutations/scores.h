#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::mutations {

// A softmax that sums over an axis before the last: over queries (2) or heads (1) in place of keys.
// {x [batch, head, query, key]} -> the same axes
struct SoftmaxAlong {
    std::size_t axis = 2;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::scores; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SoftmaxAlong&) const = default;
};

// The mask is applied to the weights: softmax over all keys, then what is masked becomes 0, so that rows no longer sum
// to 1.   {scores [batch, head, query, key], mask [batch, head, query, key]} -> the same axes
struct SoftmaxThenMask {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::scores, OperandRole::mask}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SoftmaxThenMask&) const = default;
};

// A mask of zeros and ones that is added to the scores instead of filled in.
// {scores [batch, head, query, key], mask [batch, head, query, key]} -> the same axes
struct AddMask {
    float kept = 1.0F, hidden = 0.0F;  // what is added where the mask keeps, and where it hides

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::scores, OperandRole::mask}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const AddMask&) const = default;
};

}  // namespace decoderscope::mutations
