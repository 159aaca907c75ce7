#pragma once

#include "engine/graph/operation.h"

// The pieces of latent attention (DeepSeek-V2, 2024): keys and values are made from one short row per position, and
// from a few columns of it that all heads share.
namespace decoderscope::ops {

// RMSNorm of each position's row in one step. The gain is the weight, or 1 + weight; 1 without one.
// {x [batch, pos, n], weight [n]?} -> [batch, pos, n]
struct RowNorm {
    double eps = 1e-5;
    bool plus_one = false;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::gain}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const RowNorm&) const = default;
};

// Some columns of each row; if `as_head`, as one head that all heads share.
// {x [batch, pos, n]} -> [batch, pos, rank], or [batch, head 1, pos, d_head]
struct Columns {
    Index first = 0, count = 0;
    bool as_head = false;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Columns&) const = default;

private:
    // The cell of x that a cell of the output comes from.
    [[nodiscard]] Cell source_of(const Cell& cell) const;
};

// Each head's own columns, then those that all heads share.
// {own [batch, head, pos, n], shared [batch, head 1, pos, m]} -> [batch, head, pos, n + m]
struct JoinColumns {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::added}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const JoinColumns&) const = default;
};

}  // namespace decoderscope::ops
