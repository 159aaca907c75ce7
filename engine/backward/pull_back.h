#pragma once

#include "engine/graph/plan.h"
#include "engine/ops/formula.h"
#include "engine/ops/kinds.h"

#include <string>
#include <vector>

namespace decoderscope::backward {

// How surprising each position's target is: −log softmax(logits)[target], 0 where the target is left out; as
// torch.nn.functional.cross_entropy with reduction="none".
// {logits [batch, pos, vocab], targets [batch, pos]} -> [batch, pos]
struct TokenLoss {
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1]}; }
    [[nodiscard]] ops::ByFormula formula() const {
        return {"loss_per_token", {"logits", "target"}, {{"ignored", static_cast<double>(kIgnoredTarget)}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const TokenLoss&) const = default;
};

// The mean over the targets that count.   {loss_per_token [batch, pos], targets [batch, pos]} -> [1]
struct MeanLoss {
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {{axis::one, 1}}; }
    [[nodiscard]] ops::ByFormula formula() const {
        return {"mean_loss", {"loss_per_token", "target"}, {{"ignored", static_cast<double>(kIgnoredTarget)}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const MeanLoss&) const = default;
};

// The operations of the backward pass. PullBack is that of a step's own operation; the others begin, join and end the
// pass.
// The gradient of a target with respect to one operand of an operation, along the way through this operation: what the
// chain rule makes of the gradient with respect to its output.
// {the operation's operands, its output, the gradient with respect to the output} -> the operand's axes
struct PullBack {
    Operation of;
    std::size_t operand = 0;
    std::size_t operands = 0;  // how many the operation has

    [[nodiscard]] OpDescription about() const { return of.about_pull_back(operand); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[operand]; }
    [[nodiscard]] Work work(const OperandAxes& in, const Axes&) const {
        const auto own = static_cast<std::ptrdiff_t>(operands);
        return of.pull_back_work(operand, OperandAxes(in.begin(), in.begin() + own), in[operands]);
    }
    [[nodiscard]] OperandRole role_of(std::size_t i) const {
        return i < operands ? of.role_of(i) : i == operands ? OperandRole::output : OperandRole::gradient;
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const PullBack&) const = default;
};

// The gradient with respect to a tensor that several steps read: the sum of the gradients through each.
// {one gradient per reader, at least two} -> the same axes
struct SumGradients {
    bool when_read = false;  // no step reads it: computed on demand

    [[nodiscard]] OpDescription about() const { return ops::described("sum_of_gradients"); }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::gradient; }
    [[nodiscard]] static Work work(const OperandAxes& in, const Axes& out) {
        return reading_all(in, (static_cast<Index>(in.size()) - 1) * element_count(out));
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SumGradients&) const = default;
};

// The gradient of a cell with respect to its own tensor: 1 there, 0 elsewhere. If the target is a tensor of one number,
// that number is the cell.   {} -> `shape`
struct TargetCell {
    Axes shape;
    Cell cell;

    [[nodiscard]] OpDescription about() const { return ops::described("target_cell"); }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return shape; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const TargetCell&) const = default;
};

// The gradient with respect to a tensor that the target doesn't depend on.   {} -> `shape`
struct NoGradient {
    Axes shape;

    [[nodiscard]] OpDescription about() const { return ops::described("no_gradient"); }
    [[nodiscard]] Axes axes(const OperandAxes&) const { return shape; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const NoGradient&) const = default;
};

// The gradient with respect to what a step computed, from that with respect to its edited values: a cell that was set
// passes nothing back, a scaled one passes it scaled.   {gradient} -> the same axes
struct PullBackEdits {
    std::vector<Patch> patches;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::gradient; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const PullBackEdits&) const = default;

private:
    // What a cell's gradient is multiplied by.
    [[nodiscard]] double factor_of(const Cell& cell) const;
};

}  // namespace decoderscope::backward
