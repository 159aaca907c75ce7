#pragma once

#include "engine/ops/formula.h"

namespace decoderscope::ops {

// Softmax over the last axis, the row's maximum subtracted first, as in torch.softmax. A row of −∞ gives NaN.
// {x [batch, …, n]} -> the same axes
struct Softmax {
    bool when_read = false;  // computed on demand: for a tensor that no other step reads (probs)

    [[nodiscard]] ByFormula formula() const { return {"softmax", {{"x", OperandRole::scores}}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Softmax of_head(const Head&) const { return *this; }
    [[nodiscard]] Traits traits() const {
        return {.values = Values::weights, .sums_to_one = true, .deferred = when_read};
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Softmax&) const = default;
};

}  // namespace decoderscope::ops
