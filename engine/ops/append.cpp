#include "engine/ops/append.h"

#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::ops {

About Append::about() const {
    return {tr("append to the cache"), "y[b, h, p, d] = p < past ? kept[b, h, p, d] : new[b, h, p − past, d]",
            tr("Under a causal mask a position's key and value never change once they are computed: whatever comes "
               "later is hidden from it. So generation caches them, computes those of the new token alone, and appends "
               "them. The work for a token then grows with the length of the text, not with its square; the price is "
               "the memory for two rows per position, head and layer.")};
}

Axes Append::axes(const OperandAxes& in) const {
    Axes axes = in[1];
    axes.resize(2, axes[2].size + in[0][2].size);
    return axes;
}

Tensor Append::compute(const Operands& in, const Axes& axes) const {
    const Index kept = in[0].dim(2) * in[0].dim(3), added = in[1].dim(2) * in[1].dim(3);
    const float* before = in[0].data();
    const float* after = in[1].data();
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index head = 0; head < axes[0].size * axes[1].size; ++head, before += kept, after += added) {
        to = std::copy_n(before, kept, to);
        to = std::copy_n(after, added, to);
    }
    return out;
}

Explanation Append::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index past = in[0].dim(2);
    const bool kept = cell[2] < past;
    Cell from = cell;
    if (!kept) from[2] -= past;
    const std::size_t operand = kept ? 0 : 1;
    return {{line(kept ? tr("kept") : tr("new"), {term({cell_factor(in[operand], operand, from)})})}};
}

About Append::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. one part"), "∂/∂part[b, h, p, d] = g[b, h, first + p, d]",
            tr("Each row passes back the gradient at its place.")};
}

Tensor Append::pull_back(std::size_t operand, const Backward& b) const {
    const Index past = b.in[0].dim(2) * b.in[0].dim(3), size = b.in[operand].dim(2) * b.in[operand].dim(3);
    const Index plane = b.grad.dim(2) * b.grad.dim(3), first = operand == 0 ? 0 : past;
    Tensor out(b.in[operand].axes());
    float* to = out.writable().data();
    for (Index head = 0; head < b.grad.dim(0) * b.grad.dim(1); ++head)
        to = std::copy_n(b.grad.data() + head * plane + first, size, to);
    return out;
}

Explanation Append::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    Cell at = cell;
    if (operand == 1) at[2] += b.in[0].dim(2);
    return {{line("g", {term({b.grad_at(at)})})}};
}

}  // namespace decoderscope::ops
