#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::ops {

// Appends the rows of new positions to those that were kept: the KV cache (Shazeer 2019, section 3).
// {kept [batch, head, past, d_head], new [batch, head, pos, d_head]} -> [batch, head, past + pos, d_head]; without the
// axis head for a latent row
struct Append {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::kept, OperandRole::added}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Append&) const = default;
};

}  // namespace decoderscope::ops
