#include "engine/ops/latent.h"

#include "engine/ops/head_norm.h"
#include "engine/ops/latent_heads.h"

#include "engine/base/translate.h"

#include <algorithm>
#include <vector>

namespace decoderscope::ops {

// ---- the norm of a row: that of a single head

namespace {

// [batch, pos, n] as [batch, head 1, pos, n]: the same numbers in the same order.
Tensor as_head(const Tensor& x) {
    return x.with_axes({x.axes()[0], {axis::head, 1}, x.axes()[1], {axis::d_head, x.dim(2)}});
}

Operands as_head(const Operands& in, const Tensor& first) {
    Operands read;
    read.add(first);
    for (std::size_t i = 1; i < in.size(); ++i) read.add(in[i]);
    return read;
}

Cell as_head(const Cell& cell) { return {cell[0], 0, cell[1], cell[2]}; }

// Cells of heads as those of rows.
Explanation of_rows(Explanation explanation) {
    for (Line& line : explanation.lines)
        for (Term& term : line.terms)
            for (Factor& factor : term.factors)
                if (factor.cell && factor.cell->cell.size() == 4)
                    factor.cell->cell.erase(factor.cell->cell.begin() + 1);
    return explanation;
}

HeadNorm norm_of(const RowNorm& op) { return {op.eps, false, op.plus_one}; }

}  // namespace

OpDescription RowNorm::about() const {
    return {tr("RMSNorm of the latent row"), "y[b, p, d] = x[b, p, d] / √(mean_d x[b, p, d]² + eps) · gain[d]",
            tr("Queries, or keys and values, are made from a row that is much shorter than the residual stream's. It "
               "is brought to a standard length before it is projected up again.")};
}

Tensor RowNorm::compute(const Operands& in, const Axes& axes) const {
    const Tensor x = as_head(in[0]);
    return norm_of(*this).compute(as_head(in, x), x.axes()).with_axes(axes);
}

Explanation RowNorm::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const Tensor x = as_head(in[0]);
    return of_rows(norm_of(*this).explain(as_head(in, x), as_head(out), as_head(cell)));
}

OpDescription RowNorm::about_pull_back(std::size_t operand) const { return norm_of(*this).about_pull_back(operand); }

Tensor RowNorm::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor x = as_head(b.in[0]), out = as_head(b.out), grad = as_head(b.grad);
    const Operands in = as_head(b.in, x);
    const Tensor found = norm_of(*this).pull_back(operand, {in, out, grad});
    return found.with_axes(b.in[operand].axes());
}

Explanation RowNorm::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor x = as_head(b.in[0]), out = as_head(b.out), grad = as_head(b.grad);
    const Operands in = as_head(b.in, x);
    const Cell at = operand == 0 ? as_head(cell) : cell;
    return of_rows(norm_of(*this).explain_pull_back(operand, {in, out, grad}, at));
}

// ---- some columns

OpDescription Columns::about() const {
    return {tr("take columns"), "y[b, p, d] = x[b, p, first + d]",
            tr("One projection makes both the latent row and the columns that are rotated by position; here they part. "
               "The rotated columns can't go through the latent row: a rotation between two projections would have to "
               "be undone for every pair of positions.")};
}

Axes Columns::axes(const OperandAxes& in) const {
    if (as_head) return {in[0][0], {axis::head, 1}, in[0][1], {axis::d_head, count}};
    return {in[0][0], in[0][1], {axis::rank, count}};
}

Cell Columns::source_of(const Cell& cell) const { return {cell[0], cell[as_head ? 2 : 1], first + cell.back()}; }

Tensor Columns::compute(const Operands& in, const Axes& axes) const {
    const Index width = in[0].dim(2);
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index row = 0; row < in[0].size() / width; ++row)
        to = std::copy_n(in[0].data() + row * width + first, count, to);
    return out;
}

Explanation Columns::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line(tr("carried"), {term({cell_factor(in[0], 0, source_of(cell))})})}};
}

OpDescription Columns::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. all columns"), "∂/∂x[b, p, first + d] = g[b, p, d]",
            tr("The columns that were taken get their gradient back; from here the others get none.")};
}

Tensor Columns::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.in[0].axes());
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    const Index width = out.dim(2);
    for (Index row = 0; row < out.size() / width; ++row)
        std::copy_n(b.grad.data() + row * count, count, to.data() + row * width + first);
    return out;
}

Explanation Columns::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const Index column = cell[2] - first;
    if (column < 0 || column >= count) return {{line("g", {term({constant_factor(0.0, tr("not read"))})})}};
    const Cell at = as_head ? Cell{cell[0], 0, cell[1], column} : Cell{cell[0], cell[1], column};
    return {{line("g", {term({b.grad_at(at)})})}};
}

// ---- own and shared columns

OpDescription JoinColumns::about() const {
    return {tr("join columns"), "k[b, h, p] = (own[b, h, p], shared[b, p])",
            tr("A key's first columns are the head's own and don't depend on its position; the last ones are rotated "
               "by it and are the same for all heads. A cache keeps the latent row and these few columns, not a key "
               "and a value for every head.")};
}

Axes JoinColumns::axes(const OperandAxes& in) const {
    Axes axes = in[0];
    axes.resize(3, in[0][3].size + in[1][3].size);
    return axes;
}

Tensor JoinColumns::compute(const Operands& in, const Axes& axes) const {
    if (Tensor later = joined_when_read(axes, in[0], in[1]); !later.empty()) return later;
    Tensor out(axes);
    join_columns(in[0], in[1], out.writable().data());
    return out;
}

Explanation JoinColumns::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index own = in[0].dim(3);
    if (cell[3] < own) return {{line(tr("the head's own"), {term({cell_factor(in[0], 0, cell)})})}};
    return {{line(tr("shared by all heads"), {term({cell_factor(in[1], 1, {cell[0], 0, cell[2], cell[3] - own})})})}};
}

OpDescription JoinColumns::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient w.r.t. the head's own columns"), "∂/∂own[b, h, p, d] = g[b, h, p, d]",
                tr("Each part gets the gradient of its columns.")};
    return {tr("gradient w.r.t. the shared columns"), "∂/∂shared[b, p, d] = Σ_h g[b, h, p, n + d]",
            tr("What all heads share gets the gradients of all heads.")};
}

Tensor JoinColumns::pull_back(std::size_t operand, const Backward& b) const {
    const Index heads = b.grad.dim(1), positions = b.grad.dim(2), width = b.grad.dim(3), own = b.in[0].dim(3);
    const Index count = operand == 0 ? own : width - own;
    std::vector<double> sums(static_cast<std::size_t>(b.in[operand].size()));
    for (Index row = 0; row < b.grad.size() / width; ++row) {
        const Index of_all = row / (heads * positions) * positions + row % positions;
        const Index to = operand == 0 ? row : of_all, first = operand == 0 ? 0 : own;
        for (Index d = 0; d < count; ++d)
            sums[static_cast<std::size_t>(to * count + d)] +=
                static_cast<double>(b.grad.data()[row * width + first + d]);
    }
    Tensor out(b.in[operand].axes());
    std::ranges::transform(sums, out.writable().begin(), [](double sum) { return static_cast<float>(sum); });
    return out;
}

Explanation JoinColumns::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    if (operand == 0) return {{line("g", {term({b.grad_at(cell)})})}};
    std::vector<Term> terms;
    for (Index head = 0; head < b.grad.dim(1); ++head)
        terms.push_back(term({b.grad_at({cell[0], head, cell[2], b.in[0].dim(3) + cell[3]})}));
    return {{line("Σ g", std::move(terms))}};
}

}  // namespace decoderscope::ops
