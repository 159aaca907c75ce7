#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::mutations {

// A norm's scale with the wrong spread: over n − 1, or with eps outside the root.
// {x [batch, pos, d_model]} -> [batch, pos, 1]
struct WrongScale {
    ScaleFacts facts;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::one, 1}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative, .scale = facts}; }
    bool operator==(const WrongScale& other) const;

private:
    [[nodiscard]] double scale_of(const Tensor& x, Index row) const;
};

// LayerNorm over the positions of each column instead of the columns of each position.
// {x [batch, pos, d_model], gain [d_model], shift [d_model]?} -> the same axes
struct NormOverPositions {
    double eps = 1e-5;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::gain, OperandRole::shift}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const NormOverPositions&) const = default;
};

// A norm whose gain, shift or mean is left out: (x − mean?) / scale · gain? + shift?
// {x [batch, pos, d_model], scale [batch, pos, 1], then gain [d_model] and shift [d_model] as far as used}
// -> [batch, pos, d_model]
struct PartialNorm {
    bool centred = true, gain = true, shift = true;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const {
        return operand == 2 && !gain
                   ? OperandRole::shift
                   : role_in({OperandRole::input, OperandRole::scale, OperandRole::gain, OperandRole::shift}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const PartialNorm&) const = default;
};

}  // namespace decoderscope::mutations
