#pragma once

#include "engine/graph/operation.h"
#include "engine/ops/kinds.h"

namespace decoderscope::backward {

// How surprising each position's target is: −log softmax(logits)[target], 0 where the target is left out; as
// torch.nn.functional.cross_entropy with reduction="none".
// {logits [batch, pos, vocab], targets [batch, pos]} -> [batch, pos]
struct TokenLoss {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1]}; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::targets}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operand == 0; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const TokenLoss&) const = default;
};

// The mean over the targets that count.   {loss_per_token [batch, pos], targets [batch, pos]} -> [1]
struct MeanLoss {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {{axis::one, 1}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::targets}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return operand == 0; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const MeanLoss&) const = default;
};

}  // namespace decoderscope::backward
