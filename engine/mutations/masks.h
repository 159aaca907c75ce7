#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::mutations {

// A mask that keeps the wrong keys.
// {what the right mask reads} -> [batch, head, query, key]
struct WrongMask {
    enum class Kind {
        inverted,        // keeps what it should hide
        shifted,         // the causal limit lies `shift` keys too far
        future_only,     // the causal triangle's other half
        padded_queries,  // padding hides queries, not keys
        nothing,         // keeps all keys
    };
    Operation right;  // a mask
    Kind kind = Kind::inverted;
    Index shift = 0;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return right.axes(in); }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return right.role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] Traits traits() const { return {.values = Values::mask}; }
    bool operator==(const WrongMask&) const = default;

private:
    [[nodiscard]] bool keeps(const Operands& in, const Cell& cell) const;
};

}  // namespace decoderscope::mutations
