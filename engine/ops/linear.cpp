#include "engine/ops/linear.h"

#include "engine/base/parallel.h"

#include "engine/ops/latent.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope::ops {

namespace {

const float* bias_of(const Operands& in) { return in.size() > 2 ? in[2].data() : nullptr; }

}  // namespace

Tensor Linear::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const Index rows = axes[0].size * axes[1].size, outputs = in[1].dim(0), inputs = in[1].dim(1);
    products::multiply_weight({in[0].data(), rows, inputs, inputs}, in[1], bias_of(in),
                              {out.writable().data(), rows, outputs, outputs});
    return out;
}

Tensor gradient_by_rows(const float* grad, Index rows, const Tensor& weight, Axes axes) {
    const Index outputs = weight.dim(0), inputs = weight.dim(1);
    Tensor out(std::move(axes));
    products::multiply_in_parallel({grad, rows, outputs, outputs}, {weight.data(), outputs, inputs, inputs},
                                   {out.writable().data(), rows, inputs, inputs});
    return out;
}

Tensor gradient_by_weight(const float* grad, const float* x, Index rows, Axes axes) {
    const Index outputs = axes[0].size, inputs = axes[1].size;
    Tensor out(std::move(axes));
    products::multiply_turned({grad, rows, outputs, outputs}, {x, rows, inputs, inputs},
                              {out.writable().data(), outputs, inputs, inputs});
    return out;
}

namespace {

Tensor as_tensor(const std::vector<double>& sums, Axes axes) {
    Tensor out(std::move(axes));
    std::ranges::transform(sums, out.writable().begin(), [](double sum) { return static_cast<float>(sum); });
    return out;
}

}  // namespace

Tensor gradient_by_bias(const float* grad, Index rows, Axes axes) {
    const Index outputs = axes[0].size;
    std::vector<double> sums(static_cast<std::size_t>(outputs));
    row::add_columns({grad, static_cast<std::size_t>(rows * outputs)}, sums);
    return as_tensor(sums, std::move(axes));
}

Tensor Linear::pull_back(std::size_t operand, const Backward& b) const {
    const Index rows = b.in[0].dim(0) * b.in[0].dim(1);
    if (operand == 0) return gradient_by_rows(b.grad.data(), rows, b.in[1], b.in[0].axes());
    if (operand == 1) return gradient_by_weight(b.grad.data(), b.in[0].data(), rows, b.in[1].axes());
    return gradient_by_bias(b.grad.data(), rows, b.in[2].axes());
}

bool Linear::rows_stand_alone(const Operands& in) const {
    return products::weight_rows_stand_alone(in[1].dim(1), in[1].dim(0));
}

Axes ProjectHeads::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::head, heads}, in[0][1], {axis::d_head, in[1][0].size / heads}};
}

Tensor ProjectHeads::compute(const Operands& in, const Axes& axes) const {
    if (when_read) return heads_when_read(axes, in.given(0), in.given(1), in.size() > 2 ? in.given(2) : Tensor());
    const Index batch = axes[0].size, positions = axes[2].size, d_head = axes[3].size;
    Tensor out(axes);
    products::project_to_heads(in[0].data(), in[1], bias_of(in), {batch, heads, positions, d_head},
                               out.writable().data());
    return out;
}

bool ProjectHeads::rows_stand_alone(const Operands& in) const {
    return products::weight_rows_stand_alone(in[1].dim(1), in[1].dim(0));
}

namespace {

// The sums of a head's rows, batch row after batch row.   grad [batch, head, pos, d_head]
Tensor gradient_by_bias_of_heads(const products::Heads& heads, const float* grad, Axes axes) {
    const auto d_head = static_cast<std::size_t>(heads.d_head),
               plane = static_cast<std::size_t>(heads.positions) * d_head;
    std::vector<double> sums(static_cast<std::size_t>(heads.heads) * d_head);
    for (Index b = 0; b < heads.batch; ++b)
        for (std::size_t first = 0; first < sums.size(); first += d_head, grad += plane)
            row::add_columns({grad, plane}, std::span(sums).subspan(first, d_head));
    return as_tensor(sums, std::move(axes));
}

}  // namespace

Tensor ProjectHeads::pull_back(std::size_t operand, const Backward& b) const {
    const products::Heads cut = {b.grad.dim(0), b.grad.dim(1), b.grad.dim(2), b.grad.dim(3)};
    if (operand == 2) return gradient_by_bias_of_heads(cut, b.grad.data(), b.in[2].axes());
    const Floats beside = floats(b.grad.size());  // [batch, pos, head·d_head]
    products::join_heads(cut, b.grad.data(), beside.get());
    const Index rows = cut.batch * cut.positions;
    if (operand == 0) return gradient_by_rows(beside.get(), rows, b.in[1], b.in[0].axes());
    return gradient_by_weight(beside.get(), b.in[0].data(), rows, b.in[1].axes());
}

}  // namespace decoderscope::ops
