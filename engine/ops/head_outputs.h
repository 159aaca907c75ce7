#pragma once

#include "engine/ops/formula.h"

namespace decoderscope::ops {

// Appends the rows of new positions to those that were kept: the KV cache (Shazeer 2019, section 3).
// {kept [batch, head, past, d_head], new [batch, head, pos, d_head]} -> [batch, head, past + pos, d_head]; without the
// axis head for a latent row
struct Append {
    [[nodiscard]] OpDescription about() const { return described("append"); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::kept, OperandRole::added}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] OpDescription about_pull_back(std::size_t operand) const {
        return gradient_described("append", operand == 0 ? "kept" : "new");
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Append&) const = default;
};

// What each head gathers: the values, weighted by its pattern.
// {pattern [batch, head, query, key], v [batch, kv_head, key, d_head]} -> [batch, head, query, d_head]
struct WeightedSum {
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], in[0][2], in[1][3]}; }
    [[nodiscard]] ByFormula formula() const { return {"z", {"pattern", "v"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Changed changed(const OperandsChange& change) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const WeightedSum&) const = default;
};

// The heads, side by side, through one Linear: o_proj.
// {z [batch, head, query, d_head], weight [d_model, head·d_head], bias [d_model]?} -> [batch, pos, d_model]
struct ProjectOutput {
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const { return {"join_heads", {"z", "W", "bias"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Traits traits() const { return {.adds_heads = true}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const ProjectOutput&) const = default;
};

// What each head alone adds to the residual stream: its share of o_proj, without the bias (Elhage et al. 2021).
// {z [batch, head, query, d_head], weight [d_model, head·d_head]} -> [batch, head, query, d_model]
struct HeadResults {
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const { return {"head_results", {"z", "W"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const HeadResults&) const = default;
};

// The heads' results summed, plus o_proj's bias: the same attn_out, computed the other way.
// {result [batch, head, query, d_model], bias [d_model]?} -> [batch, pos, d_model]
struct SumHeads {
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const { return {"sum_heads", {"result", "bias"}}; }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.adds_heads = true}; }
    bool operator==(const SumHeads&) const = default;
};

}  // namespace decoderscope::ops
