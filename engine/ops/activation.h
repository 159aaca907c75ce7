#pragma once

#include "engine/ops/formula.h"
#include "engine/ops/kinds.h"

#include <optional>
#include <vector>

namespace decoderscope::ops {

// The activations that are functions of one number, in the order of assets/tables/words.json, which has what
// other programs call them. What one computes is its line in the book of formulas; a few have kernels.
[[nodiscard]] const std::vector<ActivationKind>& activations();
// The one that a program other than ours calls so, by the table's key: "word" in Hugging Face's configurations,
// "function" of torch.nn.functional, "class" of torch.nn. `approximate` is gelu's argument of that name, if it matters.
[[nodiscard]] std::optional<ActivationKind> activation_named(
    std::string_view key, std::string_view name, std::optional<std::string_view> approximate = std::nullopt);

// The MLP's nonlinearity, element by element.   {pre [batch, pos, d_ff]} -> the same axes
struct Activate {
    ActivationKind kind = ActivationKind::relu;

    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Activate&) const = default;
};

// The gated form (GLU; Shazeer 2020): act(gate) · pre.   {pre [batch, pos, d_ff], gate [batch, pos, d_ff]} -> the same
// axes
struct ActivateGated {
    ActivationKind kind = ActivationKind::silu;

    [[nodiscard]] ByFormula formula() const {
        return {
            "post[…, m] = " + std::string(kind.name) + "(gate[…, m]) · pre[…, m]", {"pre", "gate"}, {}, {}, "gated"};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const ActivateGated&) const = default;
};

// gpt-oss' gate: (u + 1) · g · σ(alpha · g), with g the gate, at most `limit`, and u what is gated, at most `limit` in
// size.   {pre [batch, pos, d_ff], gate [batch, pos, d_ff]} -> the same axes
struct ClampedSwiglu {
    double alpha = 1.702, limit = 7.0;

    [[nodiscard]] ByFormula formula() const {
        return {"swiglu_clamped", {"pre", "gate"}, {{"alpha", alpha}, {"limit", limit}}};
    }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const ClampedSwiglu&) const = default;
};

// Apertus' activation (Huang & Schlag 2024): a parabola above 0, an exponential less a line below, each as steep as a
// number that was learned, kept above 0 by softplus.   {pre [batch, pos, d_ff], alpha_p [1], alpha_n [1]} -> the axes
// of pre
struct Xielu {
    [[nodiscard]] ByFormula formula() const {
        return {"xielu", {"pre", {"alpha_p", OperandRole::gate}, {"alpha_n", OperandRole::gate}}};
    }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const Xielu&) const = default;
};

}  // namespace decoderscope::ops
