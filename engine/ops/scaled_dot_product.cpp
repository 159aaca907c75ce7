#include "engine/ops/scaled_dot_product.h"

#include "engine/linalg.h"
#include "engine/parallel.h"
#include "engine/translate.h"

#include <cmath>

namespace decoderscope {

About ScaledDotProduct::about() const {
    return {tr("scaled dot product"), "scores[b, h, q, k] = Σ_d q[b, h, q, d] · k[b, h, k, d] / √d_head",
            tr("Large where the query of one position points the same way as the key of another. The division by "
               "√d_head keeps the spread of the scores near 1 however long the vectors are; without it the softmax "
               "would be nearly one-hot from the start, and its gradient nearly nothing. No mask has been applied yet: "
               "here every position still sees the future.")};
}

Axes ScaledDotProduct::axes(const OperandAxes& in) const {
    return {in[0][0], in[0][1], {axis::query, in[0][2].size}, {axis::key, in[1][2].size}};
}

double ScaledDotProduct::scale_for(Index d_head) const {
    return scale > 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(d_head));
}

Tensor ScaledDotProduct::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size, d_head = in[0].dim(3);
    const Index key_heads = in[1].dim(1), group = heads / key_heads;
    const auto factor = static_cast<float>(scale_for(d_head));
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * heads, queries * keys * d_head, [&](Index plane) {
        const Index b = plane / heads, h = plane % heads;
        const ConstMatrix q = {in[0].data() + plane * queries * d_head, queries, d_head, d_head};
        const ConstMatrix k = {in[1].data() + (b * key_heads + h / group) * keys * d_head, keys, d_head, d_head};
        multiply_transposed(q, k, {to + plane * queries * keys, queries, keys, keys}, factor);
    });
    return out;
}

bool ScaledDotProduct::rows_stand_alone(const Operands& in) const {
    return decoderscope::rows_stand_alone(in[0].dim(3), in[1].dim(2));
}

// A changed key changes a column for every query.
Changed ScaledDotProduct::changed(const OperandsChange& change) const {
    return {change.changed[0].rows, change.changed[1].rows};
}

Explanation ScaledDotProduct::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index d_head = in[0].dim(3), group = in[0].dim(1) / in[1].dim(1);
    const std::string scale_text = scale > 0.0 ? short_number(scale) : "1/√" + std::to_string(d_head);
    std::vector<Term> terms;
    for (Index d = 0; d < d_head; ++d)
        terms.push_back(term({cell_factor(in[0], 0, {cell[0], cell[1], cell[2], d}),
                              cell_factor(in[1], 1, {cell[0], cell[1] / group, cell[3], d}),
                              constant_factor(scale_for(d_head), scale_text)}));
    return {{line(scale > 0.0 ? "q · k · scale" : "q · k / √d_head", std::move(terms))}};
}

}  // namespace decoderscope
