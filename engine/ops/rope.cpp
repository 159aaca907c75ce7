#include "engine/ops/rope.h"

#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace decoderscope {

float RopeScaling::scaled(float frequency) const {
    if (kind == RopeScalingKind::none) return frequency;
    const float slow = frequency / static_cast<float>(factor);
    if (kind == RopeScalingKind::linear) return slow;
    // How many waves fit into the texts of the training before.
    const double wave = 2.0 * std::numbers::pi / static_cast<double>(frequency);
    const double waves = static_cast<double>(original_positions) / wave;
    const double fast = std::clamp((waves - low_freq_factor) / (high_freq_factor - low_freq_factor), 0.0, 1.0);
    return static_cast<float>((1.0 - fast) * static_cast<double>(slow) + fast * static_cast<double>(frequency));
}

float Rope::angle_of(Index pos, Index pair) const {
    const float exponent = static_cast<float>(2 * pair) / static_cast<float>(columns);
    const float frequency = scaling.scaled(1.0F / std::pow(static_cast<float>(theta), exponent));
    return static_cast<float>(pos) * frequency;
}

About Rope::about() const {
    return {
        tr("rotary positions"),
        interleaved
            ? "y[2i] = x[2i]·cos φ − x[2i+1]·sin φ,  y[2i+1] = x[2i+1]·cos φ + x[2i]·sin φ"
            : "y[d] = x[d]·cos φ − x[d + d_head/2]·sin φ,  y[d + d_head/2] = x[d + d_head/2]·cos φ + x[d]·sin φ",
        interleaved
            ? tr("Instead of adding a code, query and key are turned by an angle that grows with the position. Their "
                 "product then depends on the distance between the two positions alone. Early columns turn fast, late "
                 "ones hardly. Here neighbouring columns make a pair, as in the paper and in Llama's own release; "
                 "Hugging Face's files have the columns reordered so that halves make pairs.")
            : tr("Instead of adding a code, query and key are turned by an angle that grows with the position. Their "
                 "product then depends on the distance between the two positions alone. Early columns turn fast, late "
                 "ones hardly.")};
}

Tensor Rope::compute(const Operands& in, const Axes& axes) const {
    const Index positions = axes[2].size, d_head = axes[3].size;
    Tensor out(axes);
    const float* from = in[0].data();
    float* to = out.writable().data();
    for (Index row = 0; row < axes[0].size * axes[1].size * positions; ++row, from += d_head, to += d_head) {
        for (Index pair = 0; pair < columns / 2; ++pair) {
            const auto [x, y] = columns_of(pair);
            const float angle = angle_of(first + row % positions, pair);
            const float cosine = std::cos(angle), sine = std::sin(angle);
            to[x] = from[x] * cosine - from[y] * sine;
            to[y] = from[y] * cosine + from[x] * sine;
        }
        std::copy(from + columns, from + d_head, to + columns);
    }
    return out;
}

Explanation Rope::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index column = cell[3];
    if (column >= columns) return {{line(tr("not turned"), {term({cell_factor(in[0], 0, cell)})})}};
    const Index pair = interleaved ? column / 2 : column % (columns / 2);
    const auto [x, y] = columns_of(pair);
    const auto angle = static_cast<double>(angle_of(first + cell[2], pair));
    const std::string phi = "(" + short_number(angle) + ")";
    Cell partner = cell;
    partner[3] = column == x ? y : x;
    return {{line(tr("turned"), {term({cell_factor(in[0], 0, cell), constant_factor(std::cos(angle), "cos" + phi)}),
                                 term({cell_factor(in[0], 0, partner),
                                       constant_factor(column == x ? -std::sin(angle) : std::sin(angle),
                                                       (column == x ? "−sin" : "sin") + phi)})})}};
}

}  // namespace decoderscope
