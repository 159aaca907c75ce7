#include "engine/ops/rope.h"

#include "engine/translate.h"

#include <cmath>

namespace decoderscope {

namespace {

float angle_of(Index pos, Index pair, Index d_head, double theta) {
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(d_head);
    const float frequency = 1.0F / std::pow(static_cast<float>(theta), exponent);
    return static_cast<float>(pos) * frequency;
}

}  // namespace

About Rope::about() const {
    return {
        tr("rotary positions"),
        "y[d] = x[d]·cos φ − x[d + d_head/2]·sin φ,  y[d + d_head/2] = x[d + d_head/2]·cos φ + x[d]·sin φ",
        tr("Instead of adding a code, query and key are turned by an angle that grows with the position. Their product "
           "then depends on the distance between the two positions alone. Early columns turn fast, late ones hardly.")};
}

Tensor Rope::compute(const Operands& in, const Axes& axes) const {
    const Index positions = axes[2].size, d_head = axes[3].size, half = d_head / 2;
    Tensor out(axes);
    const float* from = in[0].data();
    float* to = out.writable().data();
    for (Index row = 0; row < axes[0].size * axes[1].size * positions; ++row, from += d_head, to += d_head) {
        for (Index d = 0; d < half; ++d) {
            const float angle = angle_of(first + row % positions, d, d_head, theta);
            const float cosine = std::cos(angle), sine = std::sin(angle);
            to[d] = from[d] * cosine - from[d + half] * sine;
            to[d + half] = from[d + half] * cosine + from[d] * sine;
        }
    }
    return out;
}

Explanation Rope::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index d_head = in[0].dim(3), half = d_head / 2, pair = cell[3] % half;
    const auto angle = static_cast<double>(angle_of(first + cell[2], pair, d_head, theta));
    const std::string phi = "(" + short_number(angle) + ")";
    const bool left = cell[3] < half;
    Cell partner = cell;
    partner[3] = left ? cell[3] + half : pair;
    return {{line(tr("turned"),
                  {term({cell_factor(in[0], 0, cell), constant_factor(std::cos(angle), "cos" + phi)}),
                   term({cell_factor(in[0], 0, partner), constant_factor(left ? -std::sin(angle) : std::sin(angle),
                                                                         (left ? "−sin" : "sin") + phi)})})}};
}

}  // namespace decoderscope
