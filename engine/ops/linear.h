#pragma once

#include "engine/ops/formula.h"

namespace decoderscope::ops {

// torch.nn.Linear: y = x · Wᵀ + b.   {x [batch, pos, in], weight [out, in], bias [out]?} -> [batch, pos, out]
struct Linear {
    std::string_view out_axis = axis::out;

    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {out_axis, in[1][0].size}}; }
    [[nodiscard]] ByFormula formula() const { return {"linear", {"x", "W", "bias"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Traits traits() const { return {.is_linear = true}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Linear&) const = default;
};

// A Linear whose outputs are cut into heads: head h reads rows h·d_head … of the weight.
// {x [batch, pos, in], weight [head·d_head, in], bias [head·d_head]?} -> [batch, head, pos, d_head]
struct ProjectHeads {
    Index heads = 1;
    bool when_read = false;  // computed when they are first read (engine/ops/latent.h)

    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const { return {"split_heads", {"x", "W", "bias"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const ProjectHeads&) const = default;
};

// The gradients of y = x · Wᵀ + bias, for all operations that are Linears: rows of x and y stand for batch and
// position. ∂/∂x = grad · W             grad [rows, out], weight [out, in] -> [rows, in]
[[nodiscard]] Tensor gradient_by_rows(const float* grad, Index rows, const Tensor& weight, Axes axes);
// ∂/∂W = gradᵀ · x            grad [rows, out], x [rows, in] -> [out, in]
[[nodiscard]] Tensor gradient_by_weight(const float* grad, const float* x, Index rows, Axes axes);
// ∂/∂bias = Σ_rows grad       grad [rows, out] -> [out]
[[nodiscard]] Tensor gradient_by_bias(const float* grad, Index rows, Axes axes);

}  // namespace decoderscope::ops
