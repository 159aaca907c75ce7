#pragma once

#include "engine/graph/operation.h"
#include "engine/ops/kinds.h"

namespace decoderscope::ops {

// act(x): relu, gelu (exact, by erf), gelu_tanh (Hendrycks & Gimpel 2016), silu.
[[nodiscard]] double activate(ActivationKind kind, double x);
// Its derivative; 0 at the bend of relu, as in PyTorch.
[[nodiscard]] double slope_of(ActivationKind kind, double x);

// The MLP's nonlinearity, element by element.   {pre [batch, pos, d_ff]} -> the same axes
struct Activate {
    ActivationKind kind = ActivationKind::relu;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const {
        return {.values = kind == ActivationKind::relu ? Values::non_negative : Values::any};
    }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Activate&) const = default;
};

// The gated form (GLU; Shazeer 2020): act(gate) · pre.   {pre [batch, pos, d_ff], gate [batch, pos, d_ff]} -> the same
// axes
struct ActivateGated {
    ActivationKind kind = ActivationKind::silu;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::gate}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const ActivateGated&) const = default;
};

}  // namespace decoderscope::ops
