#include "engine/ops/append.h"

#include "engine/base/translate.h"
#include "engine/tensor/grown_rows.h"

#include <algorithm>

namespace decoderscope::ops {

OpDescription Append::about() const {
    return {tr("append to the cache"), "y[b, h, p, d] = p < past ? kept[b, h, p, d] : new[b, h, p − past, d]",
            tr("Under a causal mask a position's key and value never change once they are computed: whatever comes "
               "later is hidden from it. So generation caches them, computes those of the new token alone, and appends "
               "them. The work for a token then grows with the length of the text, not with its square; the price is "
               "the memory for two rows per position, head and layer.")};
}

namespace {

// The axis of positions is the one before the last.
std::size_t rows_axis(const Axes& axes) { return axes.size() - 2; }

// How many numbers lie along the last two axes.
Index plane_of(const Tensor& x) { return x.dim(rows_axis(x.axes())) * x.axes().back().size; }

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

OpDescription Append::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. one part"), "∂/∂part[b, h, p, d] = g[b, h, first + p, d]",
            tr("Each row passes back the gradient at its place.")};
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

}  // namespace decoderscope::ops
