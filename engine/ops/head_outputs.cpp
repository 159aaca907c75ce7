#include "engine/ops/head_outputs.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

About WeightedSum::about() const {
    return {tr("weighted sum of values"), "z[b, h, q, d] = Σ_k pattern[b, h, q, k] · v[b, h, k, d]",
            tr("Attention is the only place where one position reads another. Each query takes the values of the keys "
               "it attends to, in proportion to the weight. A head that is switched off contributes nothing.")};
}

Tensor WeightedSum::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, d_head = axes[3].size, keys = in[0].dim(3);
    const Index value_heads = in[1].dim(1), group = heads / value_heads;
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * heads, queries * keys * d_head, [&](Index plane) {
        const Index b = plane / heads, h = plane % heads;
        const ConstMatrix pattern = {in[0].data() + plane * queries * keys, queries, keys, keys};
        const ConstMatrix v = {in[1].data() + (b * value_heads + h / group) * keys * d_head, keys, d_head, d_head};
        multiply(pattern, v, {to + plane * queries * d_head, queries, d_head, d_head});
    });
    return out;
}

bool WeightedSum::rows_stand_alone(const Operands& in) const {
    return decoderscope::rows_stand_alone(in[0].dim(3), in[1].dim(3));
}

namespace {

// The first query before `end` that gives any weight to a key from `first_key` on; `end` if none does.
Index first_query_seeing(const Tensor& pattern, Index first_key, Index end) {
    const Index planes = pattern.dim(0) * pattern.dim(1), queries = pattern.dim(2), keys = pattern.dim(3);
    const float* weights = rows_before(pattern, end).data();
    for (Index plane = 0; plane < planes; ++plane) {
        for (Index q = 0; q < end; ++q) {
            const float* row = weights + (plane * queries + q) * keys;
            if (std::any_of(row + first_key, row + keys, [](float weight) { return weight != 0.0F; })) end = q;
        }
    }
    return end;
}

bool all_finite(const Tensor& tensor) {
    return std::ranges::all_of(tensor.values(), [](float value) { return std::isfinite(value); });
}

}  // namespace

// A value with weight 0 can change without effect, unless it is NaN or infinite: 0 times that is NaN.
Changed WeightedSum::changed(const OperandsChange& change) const {
    const Changed &pattern = change.changed[0], &v = change.changed[1];
    if (v.rows == Changed::kNone) return changed_by_row(by_row(), change);
    const bool told = pattern.columns == Changed::kNone &&
                      all_finite(decoderscope::rows_from(change.before[1], v.rows)) &&
                      all_finite(decoderscope::rows_from(change.now[1], v.rows));
    if (!told) return {};
    return {first_query_seeing(change.before[0], v.rows, std::min(pattern.rows, change.now[0].dim(2))), Changed::kNone};
}

Explanation WeightedSum::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index group = in[0].dim(1) / in[1].dim(1);
    std::vector<Term> terms;
    for (Index k = 0; k < in[0].dim(3); ++k)
        terms.push_back(term({cell_factor(in[0], 0, {cell[0], cell[1], cell[2], k}),
                              cell_factor(in[1], 1, {cell[0], cell[1] / group, k, cell[3]})}));
    return {{line("pattern · v", std::move(terms))}};
}

About ProjectOutput::about() const {
    return {tr("merge heads"), "attn_out[b, p, o] = Σ_h Σ_d z[b, h, p, d] · W[o, h·d_head + d] + bias[o]",
            tr("The heads' outputs are laid side by side and mixed by one more Linear. It can be read as a sum over "
               "heads, each with its own slice of the weight: attn.result shows the parts.")};
}

Axes ProjectOutput::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::pos, in[0][2].size}, {axis::d_model, in[1][0].size}};
}

Tensor ProjectOutput::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    project_from_heads({in[0].dim(0), in[0].dim(1), in[0].dim(2), in[0].dim(3)}, in[0].data(), in[1],
                       in.size() > 2 ? in[2].data() : nullptr, out.writable().data());
    return out;
}

bool ProjectOutput::rows_stand_alone(const Operands& in) const {
    return weight_rows_stand_alone(in[1].dim(1), in[1].dim(0));
}

Explanation ProjectOutput::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index d_head = in[0].dim(3);
    std::vector<Term> terms;
    for (Index h = 0; h < in[0].dim(1); ++h)
        for (Index d = 0; d < d_head; ++d)
            terms.push_back(term(
                {cell_factor(in[0], 0, {cell[0], h, cell[1], d}), cell_factor(in[1], 1, {cell[2], h * d_head + d})}));
    if (in.size() > 2) terms.push_back(term({cell_factor(in[2], 2, {cell[2]})}));
    return {{line("z · w", std::move(terms))}};
}

About HeadResults::about() const {
    return {tr("each head's share"), "result[b, h, q, o] = Σ_d z[b, h, q, d] · W[o, h·d_head + d]",
            tr("attn_out before the heads are summed: who wrote what into the residual stream. Computed on demand, "
               "since it is as many times larger than attn_out as there are heads.")};
}

Axes HeadResults::axes(const OperandAxes& in) const {
    return {in[0][0], in[0][1], in[0][2], {axis::d_model, in[1][0].size}};
}

Tensor HeadResults::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, d_model = axes[3].size, d_head = in[0].dim(3);
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * heads, queries * d_model * d_head, [&](Index plane) {
        const ConstMatrix z = {in[0].data() + plane * queries * d_head, queries, d_head, d_head};
        const ConstMatrix slice = {in[1].data() + plane % heads * d_head, d_model, d_head, heads * d_head};
        multiply_transposed(z, slice, {to + plane * queries * d_model, queries, d_model, d_model});
    });
    return out;
}

bool HeadResults::rows_stand_alone(const Operands& in) const {
    return decoderscope::rows_stand_alone(in[0].dim(3), in[1].dim(0));
}

Explanation HeadResults::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index d_head = in[0].dim(3);
    std::vector<Term> terms;
    for (Index d = 0; d < d_head; ++d)
        terms.push_back(term({cell_factor(in[0], 0, {cell[0], cell[1], cell[2], d}),
                              cell_factor(in[1], 1, {cell[3], cell[1] * d_head + d})}));
    return {{line("z · w", std::move(terms))}};
}

About SumHeads::about() const {
    return {tr("sum over heads"), "attn_out[b, p, o] = Σ_h result[b, h, p, o] + bias[o]",
            tr("What attention adds to the stream is nothing but the sum of what its heads add. Computed this way "
               "while a head's result is changed manually.")};
}

Axes SumHeads::axes(const OperandAxes& in) const { return {in[0][0], {axis::pos, in[0][2].size}, in[0][3]}; }

Tensor SumHeads::compute(const Operands& in, const Axes& axes) const {
    const Index heads = in[0].dim(1), plane = axes[1].size * axes[2].size;
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index b = 0; b < axes[0].size; ++b, to += plane) {
        const float* result = in[0].data() + b * heads * plane;
        std::copy_n(result, plane, to);
        for (Index h = 1; h < heads; ++h)
            for (Index i = 0; i < plane; ++i) to[i] += result[h * plane + i];
    }
    if (in.size() > 1)
        add_to_rows(in[1].data(), {out.writable().data(), axes[0].size * axes[1].size, axes[2].size, axes[2].size});
    return out;
}

Explanation SumHeads::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (Index h = 0; h < in[0].dim(1); ++h)
        terms.push_back(term({cell_factor(in[0], 0, {cell[0], h, cell[1], cell[2]})}));
    if (in.size() > 1) terms.push_back(term({cell_factor(in[1], 1, {cell[2]})}));
    return {{line("Σ heads", std::move(terms))}};
}

}  // namespace decoderscope
