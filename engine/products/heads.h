#pragma once

#include "engine/products/linalg.h"

namespace decoderscope::products {

// The heads of an attention.
struct Heads {
    Index batch = 0, heads = 0, positions = 0, d_head = 0;
};

// Rearranges heads from side by side (a Linear's output) to one after another (as attention reads them).
//     beside [batch, pos, head·d_head] -> apart [batch, head, pos, d_head]
void part_heads(const Heads& heads, const float* beside, float* apart);
// The inverse.
//     apart [batch, head, pos, d_head] -> beside [batch, pos, head·d_head]
void join_heads(const Heads& heads, const float* apart, float* beside);

// Projects to heads through a Linear, and back through another. For long batch rows, heads that the product can read or
// write in place are not copied.
//     x [batch, pos, in] -> apart [batch, head, pos, d_head]     weight [head·d_head, in], bias or nullptr
void project_to_heads(const float* x, const Tensor& weight, const float* bias, const Heads& heads, float* apart);
//     apart [batch, head, pos, d_head] -> out [batch, pos, out]  weight [out, head·d_head], bias or nullptr
void project_from_heads(const Heads& heads, const float* apart, const Tensor& weight, const float* bias, float* out);

// What comes back to keys or values from the queries that weigh them; the query heads that share a key head add up.
// out [batch, kv_head, key, d_head] = scale · Σ_heads of the group  weightsᵀ · rows
// weights [batch, head, query, key], rows [batch, head, query, d_head]
[[nodiscard]] Tensor gathered_by_key(const Tensor& weights, const Tensor& rows, const Axes& axes, float scale);

}  // namespace decoderscope::products
