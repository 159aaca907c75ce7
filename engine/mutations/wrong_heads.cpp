#include "engine/mutations/wrong_heads.h"

#include "engine/ops/linear.h"
#include "engine/translate.h"

#include <array>

namespace decoderscope {

namespace {

Axes flat_axes(const Axes& heads) {
    return {heads[0], {axis::pos, heads[2].size}, {axis::d_model, heads[1].size * heads[3].size}};
}

}  // namespace

About WrongHeads::about() const {
    if (kind == Kind::strided)
        return {tr("project to heads, columns dealt out in turn"),
                "y[b, h, p, d] = Σ_i x[b, p, i] · W[d·heads + h, i] + bias",
                tr("The projection's columns are dealt out to the heads in turn, where they lie head by head: each "
                   "head gets a little of all of them.")};
    return {tr("project to heads by a view alone"),
            "y = (x · Wᵀ + bias).view(batch, head, pos, d_head)",  // not a message: a formula
            tr("The numbers of a row lie head by head. A view to [batch, head, pos, d_head] without a transpose cuts "
               "the text instead: the first head gets the first positions, and a causal mask no longer means what it "
               "says.")};
}

Axes WrongHeads::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::head, heads}, in[0][1], {axis::d_head, in[1][0].size / heads}};
}

Cell WrongHeads::taken_from(const Cell& cell, const Axes& axes) const {
    const Index positions = axes[2].size, d_head = axes[3].size;
    if (kind == Kind::strided) return {cell[0], cell[2], cell[3] * heads + cell[1]};
    const Index flat = (cell[1] * positions + cell[2]) * d_head + cell[3];
    return {cell[0], flat / (heads * d_head), flat % (heads * d_head)};
}

Tensor WrongHeads::compute(const Operands& in, const Axes& axes) const {
    const Tensor projected = Linear{}.compute(in, flat_axes(axes));
    Tensor out(axes);
    const std::span<float> y = out.writable();
    for (Index i = 0; i < out.size(); ++i) y[static_cast<std::size_t>(i)] = projected.at(taken_from(out.cell(i), axes));
    return out;
}

Explanation WrongHeads::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    return Linear{}.explain(in, out, taken_from(cell, out.axes()));
}

About JoinByView::about() const {
    return {tr("join heads by a view alone"),
            "y = z.view(batch, pos, d_model) · Wᵀ + bias",  // not a message: a formula
            tr("The heads' outputs lie one after another. A view to [batch, pos, d_model] without the transpose back "
               "puts neighbouring positions of one head into a row, where all heads of one position belong.")};
}

Axes JoinByView::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::pos, in[0][2].size}, {axis::d_model, in[1][0].size}};
}

namespace {

// z as the view has it, under the Linear's axes.
Tensor viewed(const Tensor& z) { return z.with_axes(flat_axes(z.axes())); }

Operands linear_operands(const Operands& in, const Tensor& x) {
    Operands read;
    read.add(x);
    for (std::size_t i = 1; i < in.size(); ++i) read.add(in[i]);
    return read;
}

}  // namespace

Tensor JoinByView::compute(const Operands& in, const Axes& axes) const {
    const Tensor x = viewed(in[0]);
    return Linear{}.compute(linear_operands(in, x), axes);
}

Explanation JoinByView::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    const Tensor x = viewed(in[0]);
    Explanation explanation = Linear{}.explain(linear_operands(in, x), out, cell);
    for (Term& term : explanation.lines.back().terms)
        for (Factor& factor : term.factors)
            if (factor.cell && factor.cell->operand == 0) factor.cell->cell = in[0].cell(x.offset(factor.cell->cell));
    return explanation;
}

}  // namespace decoderscope
