#pragma once

#include "engine/graph/operation.h"

// Steps of mixtures of experts that only a mistake needs.
namespace decoderscope::mutations {

// The scores with the correction that should only choose.
// {scores [batch, pos, expert], correction [expert]} -> [batch, pos, expert]
struct CorrectScores {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::scores, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const CorrectScores&) const = default;
};

}  // namespace decoderscope::mutations
