#include "engine/ops/positions.h"

#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace decoderscope {

namespace {

// The frequency of column pair (2i, 2i + 1), from the first of the two columns.
float frequency(Index even_column, Index d_model) {
    const float step = static_cast<float>(-std::log(10000.0) / static_cast<double>(d_model));
    return std::exp(static_cast<float>(even_column) * step);
}

Term scaled_term(Factor factor, double scale) {
    std::vector<Factor> factors = {std::move(factor)};
    if (scale != 1.0) factors.push_back(constant_factor(scale, "position_scale"));
    return term(std::move(factors));
}

}  // namespace

About SinusoidalPositions::about() const {
    return {
        tr("sinusoidal positions"), "pos_embed[p, 2i] = sin(p / 10000^(2i/d_model)),  pos_embed[p, 2i+1] = cos(…)",
        tr("Attention has no sense of order, so each position is given a code of its own: a row of clocks, fast hands "
           "on the left, slow ones on the right. A step of k positions turns every pair of columns by a fixed angle, "
           "which a linear map can learn to read. The tutorial behind post-ln-encdec adds, on batch-first input, the "
           "code of the batch index instead: every position of a row then carries the same code.")};
}

Tensor SinusoidalPositions::compute(const Operands&, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index p = 0; p < positions.size; ++p) {
        for (Index d = 0; d < d_model; ++d) {
            const float angle = static_cast<float>(first + p) * frequency(d - d % 2, d_model);
            *to++ = (d % 2 == 0 ? std::sin(angle) : std::cos(angle)) * static_cast<float>(scale);
        }
    }
    return out;
}

Explanation SinusoidalPositions::explain(const Operands&, const Tensor&, const Cell& cell) const {
    const Index even = cell[1] - cell[1] % 2;
    const float angle = static_cast<float>(first + cell[0]) * frequency(even, d_model);
    const float code = cell[1] % 2 == 0 ? std::sin(angle) : std::cos(angle);
    const std::string text = std::string(cell[1] % 2 == 0 ? "sin" : "cos") + "(" + std::to_string(first + cell[0]) +
                             " / 10000^(" + std::to_string(even) + "/" + std::to_string(d_model) + "))";
    return {{line("pos_embed", {scaled_term(constant_factor(static_cast<double>(code), text), scale)})}};
}

About LearnedPositions::about() const {
    return {tr("learned positions"), "pos_embed[p, d] = P[p, d]",
            tr("One trained row a position, as GPT-2 does it. Nothing relates neighbouring positions but what training "
               "found, and there is no row beyond the longest text seen in training.")};
}

Tensor LearnedPositions::compute(const Operands& in, const Axes& axes) const {
    const Index d_model = in[0].dim(1);
    Tensor out(axes);
    const float* from = in[0].data() + first * d_model;
    std::transform(from, from + out.size(), out.writable().data(),
                   [factor = static_cast<float>(scale)](float x) { return x * factor; });
    return out;
}

Explanation LearnedPositions::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line("pos_embed", {scaled_term(cell_factor(in[0], 0, {first + cell[0], cell[1]}), scale)})}};
}

}  // namespace decoderscope
