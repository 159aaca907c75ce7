#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::mutations {

// Grouped queries whose keys or values are repeated as a whole, torch.repeat in place of repeat_interleave: query head
// h reads head h mod kv_heads, although h / (heads / kv_heads) is meant.
// {q or pattern [batch, head, query, …], k or v [batch, kv_head, key, d_head]} -> the output of `right`
struct TiledHeads {
    Operation right;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return right.axes(in); }
    [[nodiscard]] OperandRole role_of(std::size_t operand) const { return right.role_of(operand); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const TiledHeads&) const = default;
};

// A projection whose output is split into heads the wrong way.
// {x [batch, pos, in], weight [head·d_head, in], bias [head·d_head]?} -> [batch, head, pos, d_head]
struct WrongHeads {
    enum class Kind {
        by_view,  // view(batch, head, pos, d_head) without the transpose: positions and heads are mixed
        strided,  // column c belongs to head c mod nhead, not c / d_head
    };
    Index heads = 1;
    Kind kind = Kind::by_view;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::weight, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const WrongHeads&) const = default;

private:
    // The cell of the Linear's output [batch, pos, head·d_head] that a cell is taken from.
    [[nodiscard]] Cell taken_from(const Cell& cell, const Axes& axes) const;
};

// Heads joined by a view without the transpose back, then o_proj.
// {z [batch, head, query, d_head], weight [d_model, head·d_head], bias [d_model]?} -> [batch, pos, d_model]
struct JoinByView {
    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::input, OperandRole::weight, OperandRole::bias}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const JoinByView&) const = default;
};

}  // namespace decoderscope::mutations
