#include "engine/mutations/wrong_positions.h"

#include "engine/translate.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

About SinusoidInHalves::about() const {
    return {tr("sinusoidal positions in halves"), "pos_embed[p] = [sin(p · f₀), sin(p · f₁), …, cos(p · f₀), …]",
            tr("All sines, then all cosines. The code is as good as the alternating one to a model that is trained "
               "with it, and wrong to one that was trained with the other.")};
}

float SinusoidInHalves::code(Index position, Index column) const {
    const Index sines = (d_model + 1) / 2;
    const Index pair = column < sines ? column : column - sines;
    const auto frequency =
        static_cast<float>(std::exp(-std::log(10000.0) * static_cast<double>(2 * pair) / static_cast<double>(d_model)));
    const float angle = static_cast<float>(position) * frequency;
    return (column < sines ? std::sin(angle) : std::cos(angle)) * static_cast<float>(scale);
}

Tensor SinusoidInHalves::compute(const Operands&, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index p = 0; p < positions.size; ++p)
        for (Index d = 0; d < d_model; ++d) *to++ = code(p, d);
    return out;
}

Explanation SinusoidInHalves::explain(const Operands&, const Tensor&, const Cell& cell) const {
    const bool sine = cell[1] < (d_model + 1) / 2;
    return {
        {line("pos_embed", {term({constant_factor(static_cast<double>(code(cell[0], cell[1])),
                                                  (sine ? "sin(" : "cos(") + std::to_string(cell[0]) + " · f)")})})}};
}

About AddOtherPositions::about() const {
    if (by_batch)
        return {tr("add the batch row's code"), "y[b, p, d] = x[b, p, d] + pos_embed[b, d]",
                tr("The table of positions is indexed by the first axis, which is the batch here: every token of a row "
                   "carries the same code, and the model can't tell their order.")};
    return {tr("add positions counted without padding"),
            "y[b, p, d] = x[b, p, d] + pos_embed[Σ_{j≤p} padding[b, j] − 1, d]",
            tr("Positions are counted over the tokens that are no padding, so that a text padded on the left begins "
               "at position 0 all the same.")};
}

Index AddOtherPositions::row_for(const Operands& in, Index batch, Index pos) const {
    if (by_batch) return std::min(batch, in[1].dim(0) - 1);
    Index count = 0;
    for (Index p = 0; p <= pos; ++p) count += in[2].at(Cell{batch, p}) != 0.0F ? 1 : 0;
    return std::max(count - 1, Index{0});
}

Tensor AddOtherPositions::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> y = out.writable();
    std::size_t at = 0;
    for (Index b = 0; b < axes[0].size; ++b)
        for (Index p = 0; p < axes[1].size; ++p) {
            const float* code = in[1].data() + row_for(in, b, p) * axes[2].size;
            for (Index d = 0; d < axes[2].size; ++d, ++at) y[at] = in[0].data()[at] + code[d];
        }
    return out;
}

Explanation AddOtherPositions::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line(tr("sum"), {term({cell_factor(in[0], 0, cell)}),
                              term({cell_factor(in[1], 1, {row_for(in, cell[0], cell[1]), cell[2]})})})}};
}

}  // namespace decoderscope
