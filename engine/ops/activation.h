#pragma once

#include "engine/ops/formula.h"
#include "engine/ops/kinds.h"

namespace decoderscope::ops {

// act(x): relu, gelu (exact, by erf), gelu_tanh (Hendrycks & Gimpel 2016), silu, relu2. swiglu_clamped takes two
// numbers; of one it is silu.
[[nodiscard]] double activate(ActivationKind kind, double x);
// Its name, also in the book of formulas.
[[nodiscard]] std::string_view activation_name(ActivationKind kind);
// Its derivative; 0 at the bend of relu, as in PyTorch.
[[nodiscard]] double slope_of(ActivationKind kind, double x);

// The MLP's nonlinearity, element by element.   {pre [batch, pos, d_ff]} -> the same axes
struct Activate {
    ActivationKind kind = ActivationKind::relu;

    [[nodiscard]] ByFormula formula() const { return {std::string(activation_name(kind)), {"pre"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const {
        const bool from_zero = kind == ActivationKind::relu || kind == ActivationKind::relu2;
        return {.values = from_zero ? Values::non_negative : Values::any};
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Activate&) const = default;
};

// The gated form (GLU; Shazeer 2020): act(gate) · pre.   {pre [batch, pos, d_ff], gate [batch, pos, d_ff]} -> the same
// axes
struct ActivateGated {
    ActivationKind kind = ActivationKind::silu;

    [[nodiscard]] ByFormula formula() const {
        return {"post[…, m] = " + std::string(activation_name(kind)) + "(gate[…, m]) · pre[…, m]",
                {"pre", "gate"},
                {},
                {},
                "gated"};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const ActivateGated&) const = default;
};

// gpt-oss' gate: (u + 1) · g · σ(alpha · g), with g the gate, at most `limit`, and u what is gated, at most `limit` in
// size.   {pre [batch, pos, d_ff], gate [batch, pos, d_ff]} -> the same axes
struct ClampedSwiglu {
    double alpha = 1.702, limit = 7.0;

    [[nodiscard]] ByFormula formula() const {
        return {"swiglu_clamped", {"pre", "gate"}, {{"alpha", alpha}, {"limit", limit}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const ClampedSwiglu&) const = default;

private:
    // The clamped gate with its activation, and what multiplies it.
    [[nodiscard]] double activated(double gate) const;
    [[nodiscard]] double slope(double gate) const;
    [[nodiscard]] double raised(double pre) const;
};

}  // namespace decoderscope::ops
