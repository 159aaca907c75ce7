#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::ops {

// Softmax over the last axis, the row's maximum subtracted first, as in torch.softmax. A row of −∞ gives NaN.
// {x [batch, …, n]} -> the same axes
struct Softmax {
    bool when_read = false;  // computed on demand: for a tensor that no other step reads (probs)

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::scores; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const {
        return {.values = Values::weights, .sums_to_one = true, .deferred = when_read};
    }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Softmax&) const = default;
};

// A cell of the gradient with respect to scores, y · (g − Σ_j g · y), of any softmax whose weights are the step's
// output: whatever else takes part, such as a sink, passes nothing on.
[[nodiscard]] Explanation explain_softmax_pull_back(const Backward& b, const Cell& cell);

}  // namespace decoderscope::ops
