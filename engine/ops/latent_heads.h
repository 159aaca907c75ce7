#pragma once

#include "engine/tensor/tensor.h"

// Keys and values that are made from latent rows only when they are read. Scores and sums don't need them: a query can
// be brought to the latent rows instead, and what it gathers there to the values (DeepSeek-V2, section 2.1.2), so that
// with a cache a new token reads only the short rows.
namespace decoderscope::ops {

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

}  // namespace decoderscope::ops
