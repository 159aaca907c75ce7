#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::ops {

// The rows of an embedding table for the tokens, times `scale` (√d_model in Vaswani et al. 2017, section 3.4), times
// `multiplier` (Granite's), rounded after each. As torch.nn.Embedding.   {tokens [batch, pos], table [vocab, d_model]}
// -> [batch, pos, d_model] Throws Error if a token is not a row of the table.
struct Embed {
    float scale = 1.0F, multiplier = 1.0F;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::tokens, OperandRole::table}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operand == 1; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Embed&) const = default;

private:
    // Adds the factors that a row is multiplied by, if any.
    void add_scales(std::vector<Factor>& factors) const;
};

}  // namespace decoderscope::ops
