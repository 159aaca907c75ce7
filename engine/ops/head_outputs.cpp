#include "engine/ops/head_outputs.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/ops/latent.h"
#include "engine/ops/linear.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace decoderscope::ops {

namespace {

// The axis of positions is the one before the last.
std::size_t rows_axis(const Axes& axes) { return axes.size() - 2; }

// How many numbers lie along the last two axes.
Index plane_of(const Tensor& x) { return x.dim(rows_axis(x.axes())) * x.axes().back().size; }

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

Axes Append::axes(const OperandAxes& in) const {
    Axes axes = in[1];
    const std::size_t along = rows_axis(axes);
    axes.resize(along, axes[along].size + in[0][along].size);
    return axes;
}

Tensor Append::compute(const Operands& in, const Axes& axes) const { return with_rows_added(in[0], in[1], axes); }

Explanation Append::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const std::size_t along = rows_axis(in[0].axes());
    const Index past = in[0].dim(along);
    const bool kept = cell[along] < past;
    Cell from = cell;
    if (!kept) from[along] -= past;
    const std::size_t operand = kept ? 0 : 1;
    return {{line(kept ? tr("kept") : tr("new"), {term({cell_factor(in[operand], operand, from)})})}};
}

Tensor Append::pull_back(std::size_t operand, const Backward& b) const {
    const Index size = plane_of(b.in[operand]), plane = plane_of(b.grad);
    const Index first = operand == 0 ? 0 : plane_of(b.in[0]);
    Tensor out(b.in[operand].axes());
    float* to = out.writable().data();
    for (Index number = 0; number < b.grad.size() / plane; ++number)
        to = std::copy_n(b.grad.data() + number * plane + first, size, to);
    return out;
}

Explanation Append::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const std::size_t along = rows_axis(b.grad.axes());
    Cell at = cell;
    if (operand == 1) at[along] += b.in[0].dim(along);
    return {{line("g", {term({b.grad_at(at)})})}};
}

Tensor WeightedSum::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, d_head = axes[3].size, keys = in[0].dim(3);
    const Index value_heads = in[1].dim(1), group = heads / value_heads;
    Tensor out(axes);
    float* to = out.writable().data();
    if (sums_by_latent_rows(in[0], in[1], to)) return out;
    const Planes values = planes_of(in[1]);
    each_in_parallel(axes[0].size * heads, queries * keys * d_head, [&](Index plane) {
        const Index b = plane / heads, h = plane % heads;
        const products::ConstMatrix pattern = {in[0].data() + plane * queries * keys, queries, keys, keys};
        const products::ConstMatrix v = {values.data + (b * value_heads + h / group) * values.apart, keys, d_head,
                                         d_head};
        products::multiply(pattern, v, {to + plane * queries * d_head, queries, d_head, d_head});
    });
    return out;
}

bool WeightedSum::rows_stand_alone(const Operands& in) const {
    return decoderscope::products::rows_stand_alone(in[0].dim(3), in[1].dim(3));
}

// A value with weight 0 can change without effect, unless it is NaN or infinite: 0 times that is NaN.
Changed WeightedSum::changed(const OperandsChange& change) const {
    const Changed &pattern = change.changed[0], &v = change.changed[1];
    if (v.rows == Changed::kNone) return changed_by_row(by_row(), change);
    if (change.before[0].by_rows() != nullptr) return {};  // to look for zeros would be to compute it
    const bool told = pattern.columns == Changed::kNone &&
                      all_finite(decoderscope::rows_from(change.before[1], v.rows)) &&
                      all_finite(decoderscope::rows_from(change.now[1], v.rows));
    if (!told) return {};
    return {first_query_seeing(change.before[0], v.rows, std::min(pattern.rows, change.now[0].dim(2))), Changed::kNone};
}

Tensor WeightedSum::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &pattern = b.in[0], &v = b.in[1];
    if (operand == 1) return products::gathered_by_key(pattern, b.grad, v.axes(), 1.0F);
    const Index heads = pattern.dim(1), queries = pattern.dim(2), keys = pattern.dim(3), d_head = v.dim(3);
    const Index value_heads = v.dim(1), group = heads / value_heads;
    Tensor out(pattern.axes());
    float* to = out.writable().data();
    each_in_parallel(pattern.dim(0) * heads, queries * keys * d_head, [&](Index plane) {
        const Index value_plane = plane / heads * value_heads + plane % heads / group;
        products::multiply_transposed({b.grad.data() + plane * queries * d_head, queries, d_head, d_head},
                                      {v.data() + value_plane * keys * d_head, keys, d_head, d_head},
                                      {to + plane * queries * keys, queries, keys, keys});
    });
    return out;
}

Axes ProjectOutput::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::pos, in[0][2].size}, {axis::d_model, in[1][0].size}};
}

Tensor ProjectOutput::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    products::project_from_heads({in[0].dim(0), in[0].dim(1), in[0].dim(2), in[0].dim(3)}, in[0].data(), in[1],
                                 in.size() > 2 ? in[2].data() : nullptr, out.writable().data());
    return out;
}

bool ProjectOutput::rows_stand_alone(const Operands& in) const {
    return products::weight_rows_stand_alone(in[1].dim(1), in[1].dim(0));
}

Tensor ProjectOutput::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor& z = b.in[0];
    const products::Heads cut = {z.dim(0), z.dim(1), z.dim(2), z.dim(3)};
    const Index rows = cut.batch * cut.positions;
    if (operand == 2) return gradient_by_bias(b.grad.data(), rows, b.in[2].axes());
    if (operand == 1) {
        const Floats beside = floats(z.size());  // [batch, pos, head·d_head]
        products::join_heads(cut, z.data(), beside.get());
        return gradient_by_weight(b.grad.data(), beside.get(), rows, b.in[1].axes());
    }
    const Tensor joined =
        gradient_by_rows(b.grad.data(), rows, b.in[1], {z.axes()[0], z.axes()[2], {axis::in, cut.heads * cut.d_head}});
    Tensor out(z.axes());
    products::part_heads(cut, joined.data(), out.writable().data());
    return out;
}

Axes HeadResults::axes(const OperandAxes& in) const {
    return {in[0][0], in[0][1], in[0][2], {axis::d_model, in[1][0].size}};
}

Tensor HeadResults::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, d_model = axes[3].size, d_head = in[0].dim(3);
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * heads, queries * d_model * d_head, [&](Index plane) {
        const products::ConstMatrix z = {in[0].data() + plane * queries * d_head, queries, d_head, d_head};
        const products::ConstMatrix slice = {in[1].data() + plane % heads * d_head, d_model, d_head, heads * d_head};
        products::multiply_transposed(z, slice, {to + plane * queries * d_model, queries, d_model, d_model});
    });
    return out;
}

bool HeadResults::rows_stand_alone(const Operands& in) const {
    return decoderscope::products::rows_stand_alone(in[0].dim(3), in[1].dim(0));
}

Tensor HeadResults::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor &z = b.in[0], &weight = b.in[1];
    const Index heads = z.dim(1), queries = z.dim(2), d_head = z.dim(3), outputs = weight.dim(0);
    if (operand == 0) {
        Tensor out(z.axes());
        float* to = out.writable().data();
        each_in_parallel(z.dim(0) * heads, queries * outputs * d_head, [&](Index plane) {
            products::multiply({b.grad.data() + plane * queries * outputs, queries, outputs, outputs},
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

Axes SumHeads::axes(const OperandAxes& in) const { return {in[0][0], {axis::pos, in[0][2].size}, in[0][3]}; }

}  // namespace decoderscope::ops
