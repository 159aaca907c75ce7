#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/ops/head_outputs.h"
#include "engine/ops/linear_gradient.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"

#include <algorithm>
#include <vector>

// The gradients of the products of an attention. With fewer key heads than query heads, the query heads that share a
// key head add up.
namespace decoderscope {

namespace {

// {columns, rows} of a matrix, written to `out`.
void turn(const float* matrix, Index rows, Index columns, float* out) {
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) out[c * rows + r] = matrix[r * columns + c];
}

// out [batch, kv_head, key, d_head] = scale · Σ_heads of the group  weightsᵀ · rows
// weights [batch, head, query, key], rows [batch, head, query, d_head]
Tensor gathered_by_key(const Tensor& weights, const Tensor& rows, const Axes& axes, float scale) {
    const Index heads = weights.dim(1), queries = weights.dim(2), keys = weights.dim(3), d_head = rows.dim(3);
    const Index key_heads = axes[1].size, group = heads / key_heads, size = keys * d_head;
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * key_heads, group * queries * keys * d_head, [&](Index plane) {
        std::vector<float> by_key(static_cast<std::size_t>(keys * queries)), part(static_cast<std::size_t>(size));
        float* sum = to + plane * size;
        std::fill_n(sum, size, 0.0F);
        for (Index member = 0; member < group; ++member) {
            const Index head = plane / key_heads * heads + plane % key_heads * group + member;
            turn(weights.data() + head * queries * keys, queries, keys, by_key.data());
            multiply({by_key.data(), keys, queries, queries},
                     {rows.data() + head * queries * d_head, queries, d_head, d_head},
                     {part.data(), keys, d_head, d_head});
            for (Index i = 0; i < size; ++i) sum[i] += scale * part[static_cast<std::size_t>(i)];
        }
    });
    return out;
}

}  // namespace

// ---- scores = q · kᵀ · scale

About ScaledDotProduct::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient by the query"), "∂/∂q[b, h, q, d] = Σ_k g[b, h, q, k] · k[b, h, k, d] · scale",
                tr("A query moves its whole row of scores. It is pulled towards the keys whose scores should grow, and "
                   "away from those whose scores should shrink.")};
    return {tr("gradient by the key"), "∂/∂k[b, h, k, d] = Σ_q g[b, h, q, k] · q[b, h, q, d] · scale",
            tr("A key moves its whole column of scores: every query that may see it has its say.")};
}

Tensor ScaledDotProduct::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &q = b.in[0], &k = b.in[1];
    const Index heads = q.dim(1), queries = q.dim(2), d_head = q.dim(3), key_heads = k.dim(1), keys = k.dim(2);
    const Index group = heads / key_heads;
    const auto factor = static_cast<float>(scale_for(d_head));
    if (operand == 1) return gathered_by_key(b.grad, q, k.axes(), factor);
    Tensor out(q.axes());
    float* to = out.writable().data();
    each_in_parallel(q.dim(0) * heads, queries * keys * d_head, [&](Index plane) {
        const Index key_plane = plane / heads * key_heads + plane % heads / group;
        float* rows = to + plane * queries * d_head;
        multiply({b.grad.data() + plane * queries * keys, queries, keys, keys},
                 {k.data() + key_plane * keys * d_head, keys, d_head, d_head}, {rows, queries, d_head, d_head});
        std::for_each(rows, rows + queries * d_head, [&](float& value) { value *= factor; });
    });
    return out;
}

Explanation ScaledDotProduct::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor &q = b.in[0], &k = b.in[1];
    const Index group = q.dim(1) / k.dim(1), d = cell[3];
    const Factor factor = constant_factor(scale_for(q.dim(3)), tr(message_c("factor", "scale")));
    std::vector<Term> terms;
    if (operand == 0) {
        for (Index key = 0; key < k.dim(2); ++key)
            terms.push_back(term(
                {b.grad_at({cell[0], cell[1], cell[2], key}), b.in_at(1, {cell[0], cell[1] / group, key, d}), factor}));
        return {{line("g · k · scale", std::move(terms))}};
    }
    for (Index head = cell[1] * group; head < (cell[1] + 1) * group; ++head)
        for (Index query = 0; query < q.dim(2); ++query)
            terms.push_back(
                term({b.grad_at({cell[0], head, query, cell[2]}), b.in_at(0, {cell[0], head, query, d}), factor}));
    return {{line("g · q · scale", std::move(terms))}};
}

// ---- z = pattern · v

About WeightedSum::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {
            tr("gradient by the pattern"), "∂/∂pattern[b, h, q, k] = Σ_d g[b, h, q, d] · v[b, h, k, d]",
            tr("What more weight on this key would do: how well its value points along the gradient. It is as large "
               "for masked cells as for others, as no mask has been passed yet; the gradient by the scores is 0 "
               "there.")};
    return {tr("gradient by the value"), "∂/∂v[b, h, k, d] = Σ_q pattern[b, h, q, k] · g[b, h, q, d]",
            tr("A value counts for the queries that attend to it, in proportion to their weights.")};
}

Tensor WeightedSum::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &pattern = b.in[0], &v = b.in[1];
    if (operand == 1) return gathered_by_key(pattern, b.grad, v.axes(), 1.0F);
    const Index heads = pattern.dim(1), queries = pattern.dim(2), keys = pattern.dim(3), d_head = v.dim(3);
    const Index value_heads = v.dim(1), group = heads / value_heads;
    Tensor out(pattern.axes());
    float* to = out.writable().data();
    each_in_parallel(pattern.dim(0) * heads, queries * keys * d_head, [&](Index plane) {
        const Index value_plane = plane / heads * value_heads + plane % heads / group;
        multiply_transposed({b.grad.data() + plane * queries * d_head, queries, d_head, d_head},
                            {v.data() + value_plane * keys * d_head, keys, d_head, d_head},
                            {to + plane * queries * keys, queries, keys, keys});
    });
    return out;
}

Explanation WeightedSum::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor &pattern = b.in[0], &v = b.in[1];
    const Index group = pattern.dim(1) / v.dim(1);
    std::vector<Term> terms;
    if (operand == 0) {
        for (Index d = 0; d < v.dim(3); ++d)
            terms.push_back(
                term({b.grad_at({cell[0], cell[1], cell[2], d}), b.in_at(1, {cell[0], cell[1] / group, cell[3], d})}));
        return {{line("g · v", std::move(terms))}};
    }
    for (Index head = cell[1] * group; head < (cell[1] + 1) * group; ++head)
        for (Index query = 0; query < pattern.dim(2); ++query)
            terms.push_back(
                term({b.in_at(0, {cell[0], head, query, cell[2]}), b.grad_at({cell[0], head, query, cell[3]})}));
    return {{line("pattern · g", std::move(terms))}};
}

// ---- attn_out = z, the heads side by side, · Wᵀ + bias

About ProjectOutput::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient by the heads' outputs"), "∂/∂z[b, h, p, d] = Σ_o g[b, p, o] · W[o, h·d_head + d]",
                tr("Every head is told, in its own columns, in which direction its output should move.")};
    if (operand == 1)
        return {
            tr("gradient by the weight"), "∂/∂W[o, h·d_head + d] = Σ_bp g[b, p, o] · z[b, h, p, d]",
            tr("A weight counts at every position where it is used: what it was multiplied by there, times what its "
               "output is worth, summed over all positions of all rows.")};
    return {tr("gradient by the bias"), "∂/∂bias[o] = Σ_bp g[b, p, o]",
            tr("A bias is added at every position, so its gradient is the sum of its output's over all of them.")};
}

Tensor ProjectOutput::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor& z = b.in[0];
    const Heads cut = {z.dim(0), z.dim(1), z.dim(2), z.dim(3)};
    const Index rows = cut.batch * cut.positions;
    std::vector<float> beside(static_cast<std::size_t>(z.size()));  // [batch, pos, head·d_head]
    if (operand == 2) return gradient_by_bias(b.grad.data(), rows, b.in[2].axes());
    if (operand == 1) {
        join_heads(cut, z.data(), beside.data());
        return gradient_by_weight(b.grad.data(), beside.data(), rows, b.in[1].axes());
    }
    const Tensor joined =
        gradient_by_rows(b.grad.data(), rows, b.in[1], {z.axes()[0], z.axes()[2], {axis::in, cut.heads * cut.d_head}});
    Tensor out(z.axes());
    part_heads(cut, joined.data(), out.writable().data());
    return out;
}

Explanation ProjectOutput::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor& z = b.in[0];
    const Index d_head = z.dim(3);
    std::vector<Term> terms;
    if (operand == 0) {
        for (Index o = 0; o < b.in[1].dim(0); ++o)
            terms.push_back(term({b.grad_at({cell[0], cell[2], o}), b.in_at(1, {o, cell[1] * d_head + cell[3]})}));
        return {{line("g · w", std::move(terms))}};
    }
    for (Index batch = 0; batch < z.dim(0); ++batch) {
        for (Index pos = 0; pos < z.dim(2); ++pos) {
            std::vector<Factor> factors = {b.grad_at({batch, pos, cell[0]})};
            if (operand == 1) factors.push_back(b.in_at(0, {batch, cell[1] / d_head, pos, cell[1] % d_head}));
            terms.push_back(term(std::move(factors)));
        }
    }
    return {{line(operand == 1 ? "g · z" : "Σ g", std::move(terms))}};
}

// ---- result[h] = z[h] · W[:, h]ᵀ

About HeadResults::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient by the heads' outputs"), "∂/∂z[b, h, q, d] = Σ_o g[b, h, q, o] · W[o, h·d_head + d]",
                tr("Every head is told, in its own columns, in which direction its output should move.")};
    return {tr("gradient by the weight"), "∂/∂W[o, h·d_head + d] = Σ_bq g[b, h, q, o] · z[b, h, q, d]",
            tr("A weight counts at every position where it is used: what it was multiplied by there, times what its "
               "output is worth, summed over all positions of all rows.")};
}

Tensor HeadResults::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &z = b.in[0], &weight = b.in[1];
    const Index heads = z.dim(1), queries = z.dim(2), d_head = z.dim(3), outputs = weight.dim(0);
    if (operand == 0) {
        Tensor out(z.axes());
        float* to = out.writable().data();
        each_in_parallel(z.dim(0) * heads, queries * outputs * d_head, [&](Index plane) {
            multiply({b.grad.data() + plane * queries * outputs, queries, outputs, outputs},
                     {weight.data() + plane % heads * d_head, outputs, d_head, heads * d_head},
                     {to + plane * queries * d_head, queries, d_head, d_head});
        });
        return out;
    }
    Tensor out(weight.axes());
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    for (Index plane = 0; plane < z.dim(0) * heads; ++plane)
        for (Index q = 0; q < queries; ++q)
            for (Index o = 0; o < outputs; ++o)
                for (Index d = 0; d < d_head; ++d)
                    to[static_cast<std::size_t>((o * heads + plane % heads) * d_head + d)] +=
                        b.grad.data()[(plane * queries + q) * outputs + o] *
                        z.data()[(plane * queries + q) * d_head + d];
    return out;
}

Explanation HeadResults::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor& z = b.in[0];
    const Index d_head = z.dim(3);
    std::vector<Term> terms;
    if (operand == 0) {
        for (Index o = 0; o < b.in[1].dim(0); ++o)
            terms.push_back(
                term({b.grad_at({cell[0], cell[1], cell[2], o}), b.in_at(1, {o, cell[1] * d_head + cell[3]})}));
        return {{line("g · w", std::move(terms))}};
    }
    const Index head = cell[1] / d_head, d = cell[1] % d_head;
    for (Index batch = 0; batch < z.dim(0); ++batch)
        for (Index q = 0; q < z.dim(2); ++q)
            terms.push_back(term({b.grad_at({batch, head, q, cell[0]}), b.in_at(0, {batch, head, q, d})}));
    return {{line("g · z", std::move(terms))}};
}

// ---- attn_out = Σ_h result[h] + bias

About SumHeads::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient by the heads' shares"), "∂/∂result[b, h, q, o] = g[b, q, o]",
                tr("A sum hands its gradient to every summand as it is: all heads get the same.")};
    return {tr("gradient by the bias"), "∂/∂bias[o] = Σ_bp g[b, p, o]",
            tr("A bias is added at every position, so its gradient is the sum of its output's over all of them.")};
}

Tensor SumHeads::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 1) return gradient_by_bias(b.grad.data(), b.grad.dim(0) * b.grad.dim(1), b.in[1].axes());
    const Index heads = b.in[0].dim(1), plane = b.in[0].dim(2) * b.in[0].dim(3);
    Tensor out(b.in[0].axes());
    float* to = out.writable().data();
    for (Index head = 0; head < b.in[0].dim(0) * heads; ++head)
        to = std::copy_n(b.grad.data() + head / heads * plane, plane, to);
    return out;
}

Explanation SumHeads::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    if (operand == 0) return {{line("g", {term({b.grad_at({cell[0], cell[2], cell[3]})})})}};
    std::vector<Term> terms;
    for (Index batch = 0; batch < b.grad.dim(0); ++batch)
        for (Index pos = 0; pos < b.grad.dim(1); ++pos) terms.push_back(term({b.grad_at({batch, pos, cell[0]})}));
    return {{line("Σ g", std::move(terms))}};
}

}  // namespace decoderscope
