#pragma once

#include "engine/operation.h"

#include <cstdint>

namespace decoderscope {

// What dropout multiplies by: 0 with probability p, else 1/(1 − p) (Srivastava et al. 2014, in torch.nn.Dropout's
// "inverted" form). The numbers come from the seed and the mask's own name.   {} -> `shape`
struct DropoutMask {
    Axes shape;
    double p = 0.0;
    std::uint64_t seed = 0;
    std::string name;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return shape; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative}; }
    bool operator==(const DropoutMask&) const = default;
};

// {x, mask of the same axes} -> x · mask
struct Drop {
    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::as_first}; }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operand == 0; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Drop&) const = default;
};

}  // namespace decoderscope
