#pragma once

#include "engine/ops/formula.h"
#include "engine/tensor/tensor.h"

namespace decoderscope::ops {

// Keys and values that are made from latent rows only when they are read. Scores and sums don't need them: a query can
// be brought to the latent rows instead, and what it gathers there to the values (DeepSeek-V2, section 2.1.2), so that
// with a cache a new token reads only the short rows.
// {rows [batch, pos, rank], weight [head·width, rank], bias [head·width]?} -> [batch, head, pos, width]
[[nodiscard]] Tensor heads_when_read(Axes axes, const Tensor& rows, const Tensor& weight, const Tensor& bias);
// Such heads, each followed by the columns that all share; an empty tensor if `own` doesn't hold such heads.
// {own [batch, head, pos, n], shared [batch, head 1, pos, m]} -> [batch, head, pos, n + m]
[[nodiscard]] Tensor joined_when_read(Axes axes, const Tensor& own, const Tensor& shared);

// As above, for heads that are in memory already.
void join_columns(const Tensor& own, const Tensor& shared, float* joined);

// scores [batch, head, query, key] = scale · q · k, and z [batch, head, query, width] = pattern · v, without making k
// or v. Returns false and writes nothing if they aren't such heads, or if there are so many queries that making them
// costs less.
[[nodiscard]] bool scores_by_latent_rows(const Tensor& q, const Tensor& k, float scale, float* scores);
[[nodiscard]] bool sums_by_latent_rows(const Tensor& pattern, const Tensor& v, float* z);

// The pieces of latent attention (DeepSeek-V2, 2024): keys and values are made from one short row per position, and
// from a few columns of it that all heads share.
// RMSNorm of each position's row in one step. The gain is the weight, or 1 + weight; 1 without one.
// {x [batch, pos, n], weight [n]?} -> [batch, pos, n]
struct RowNorm {
    double eps = 1e-5;
    bool plus_one = false;

    [[nodiscard]] ByFormula formula() const {
        return {plus_one ? "row_norm_plus_one" : "row_norm", {"x", "gain"}, {{"eps", eps}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const RowNorm&) const = default;
};

// Some columns of each row; if `as_head`, as one head that all heads share.
// {x [batch, pos, n]} -> [batch, pos, rank], or [batch, head 1, pos, d_head]
struct Columns {
    Index first = 0, count = 0;
    bool as_head = false;

    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const Columns&) const = default;
};

// Each head's own columns, then those that all heads share.
// {own [batch, head, pos, n], shared [batch, head 1, pos, m]} -> [batch, head, pos, n + m]
struct JoinColumns {
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] ByFormula formula() const { return {"join_columns", {"own", "shared"}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    bool operator==(const JoinColumns&) const = default;
};

}  // namespace decoderscope::ops
