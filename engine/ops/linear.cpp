#include "engine/ops/linear.h"

#include "engine/base/translate.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"

namespace decoderscope {

namespace {

const float* bias_of(const Operands& in) { return in.size() > 2 ? in[2].data() : nullptr; }

// Σ x·w over one row of x and one row of the weight, and the bias.
Explanation explain_row(const Operands& in, Index batch, Index pos, Index output) {
    const Tensor& x = in[0];
    const Tensor& weight = in[1];
    std::vector<Term> terms;
    for (Index i = 0; i < weight.dim(1); ++i)
        terms.push_back(term({cell_factor(x, 0, {batch, pos, i}), cell_factor(weight, 1, {output, i})}));
    if (in.size() > 2) terms.push_back(term({cell_factor(in[2], 2, {output})}));
    return {{line("x · w", std::move(terms))}};
}

}  // namespace

About Linear::about() const {
    return {tr("linear"), "y[b, p, o] = Σ_i x[b, p, i] · W[o, i] + bias[o]",
            tr("A learned mix of the row's numbers. Every position is treated alike and on its own: nothing here reads "
               "another token.")};
}

Tensor Linear::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const Index rows = axes[0].size * axes[1].size, outputs = in[1].dim(0), inputs = in[1].dim(1);
    multiply_weight({in[0].data(), rows, inputs, inputs}, in[1], bias_of(in),
                    {out.writable().data(), rows, outputs, outputs});
    return out;
}

Explanation Linear::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return explain_row(in, cell[0], cell[1], cell[2]);
}

bool Linear::rows_stand_alone(const Operands& in) const { return weight_rows_stand_alone(in[1].dim(1), in[1].dim(0)); }

About ProjectHeads::about() const {
    return {tr("project to heads"), "y[b, h, p, d] = Σ_i x[b, p, i] · W[h·d_head + d, i] + bias[h·d_head + d]",
            tr("Each head sees the whole row, through a few learned directions of its own. The query says what a "
               "position looks for, the key what it can be found by, the value what it passes on when it is found. The "
               "tutorial with the shared projection (causal-lm) uses q_proj for all three, so there a token always "
               "resembles itself most.")};
}

Axes ProjectHeads::axes(const OperandAxes& in) const {
    return {in[0][0], {axis::head, heads}, in[0][1], {axis::d_head, in[1][0].size / heads}};
}

Tensor ProjectHeads::compute(const Operands& in, const Axes& axes) const {
    const Index batch = axes[0].size, positions = axes[2].size, d_head = axes[3].size;
    Tensor out(axes);
    project_to_heads(in[0].data(), in[1], bias_of(in), {batch, heads, positions, d_head}, out.writable().data());
    return out;
}

bool ProjectHeads::rows_stand_alone(const Operands& in) const {
    return weight_rows_stand_alone(in[1].dim(1), in[1].dim(0));
}

Explanation ProjectHeads::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    return explain_row(in, cell[0], cell[2], cell[1] * out.dim(3) + cell[3]);
}

}  // namespace decoderscope
