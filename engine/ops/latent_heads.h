#pragma once

#include "engine/tensor/tensor.h"

// Keys and values that are made of latent rows only when they are read. Scores and sums don't need them: a query can be
// brought to the latent rows instead, and what it gathers there to the values (DeepSeek-V2, section 2.1.2), so that a
// token behind a cache reads the short rows alone.
namespace decoderscope::ops {

// {rows [batch, pos, rank], weight [head·width, rank], bias [head·width]?} -> [batch, head, pos, width]
[[nodiscard]] Tensor heads_when_read(Axes axes, const Tensor& rows, const Tensor& weight, const Tensor& bias);
// Such heads with columns that all share behind their own; an empty tensor if `own` is none of these.
// {own [batch, head, pos, n], shared [batch, head 1, pos, m]} -> [batch, head, pos, n + m]
[[nodiscard]] Tensor joined_when_read(Axes axes, const Tensor& own, const Tensor& shared);

// As above, for heads that there are.
void join_columns(const Tensor& own, const Tensor& shared, float* joined);

// scores [batch, head, query, key] = scale · q · k, and z [batch, head, query, width] = pattern · v, without making k
// or v. False, and nothing is written, where they aren't such or there are so many queries that making them costs less.
[[nodiscard]] bool scores_by_latent_rows(const Tensor& q, const Tensor& k, float scale, float* scores);
[[nodiscard]] bool sums_by_latent_rows(const Tensor& pattern, const Tensor& v, float* z);

}  // namespace decoderscope::ops
