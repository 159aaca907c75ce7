#pragma once

#include "engine/operation.h"

namespace decoderscope {

// The sum of a tensor and any number of others, added to it from left to right. Each of these may lack leading axes of
// the first, and is then broadcast along them.
// The first is multiplied by `residual_scale` (DeepNorm's α, Wang et al. 2022).
// {x [batch, pos, d_model], update [batch, pos, d_model] or [pos, d_model], …} -> [batch, pos, d_model]
struct Add {
    double residual_scale = 1.0;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true, true, true}, true}; }
    [[nodiscard]] Traits traits() const { return {.goes_on = true}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Add&) const = default;
};

}  // namespace decoderscope
