#include "engine/ops/head_norm.h"

#include "engine/base/parallel.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace decoderscope::ops {

namespace {

using Row = std::span<const float>;

// One head's numbers at a position.   x [batch, head, pos, d_head]
Row row_of(const Tensor& x, Index batch, Index head, Index pos) {
    const Index width = x.dim(3);
    return {x.data() + ((batch * x.dim(1) + head) * x.dim(2) + pos) * width, static_cast<std::size_t>(width)};
}

constexpr Index kHeadNormCost = 8;  // of one number, in multiply-adds

}  // namespace

ByFormula HeadNorm::formula() const {
    const std::string label = across_heads ? "norm_across_heads" : "head_norm";
    return {plus_one ? label + "_plus_one" : label, {"x", "gain"}, {{"eps", eps}}};
}

double HeadNorm::scale_of(const Tensor& x, Index batch, Index head, Index pos) const {
    const auto [first, last] = heads_with(head, x.dim(1));
    double squares = 0.0;
    for (Index h = first; h < last; ++h) squares += row::squares(row_of(x, batch, h, pos), 0.0);
    return std::sqrt(squares / static_cast<double>((last - first) * x.dim(3)) + eps);
}

Tensor HeadNorm::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, positions = axes[2].size, d_head = axes[3].size;
    std::vector<float> gain;
    if (in.size() > 1)
        gain.assign(in[1].values().begin(), in[1].values().end());
    else
        gain.assign(static_cast<std::size_t>(across_heads ? heads * d_head : d_head), 1.0F);
    if (plus_one && in.size() > 1)
        for (float& weight : gain) weight += 1.0F;
    Tensor out(axes);
    const row::Out to = out.writable();
    in_parallel(axes[0].size * heads * positions, d_head * kHeadNormCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const Index pos = r % positions, head = r / positions % heads, batch = r / positions / heads;
            const Row own = across_heads ? Row(gain).subspan(static_cast<std::size_t>(head * d_head)) : Row(gain);
            row::normalize(row_of(in[0], batch, head, pos), 0.0, scale_of(in[0], batch, head, pos), own, {},
                           to.subspan(static_cast<std::size_t>(r * d_head), static_cast<std::size_t>(d_head)));
        }
    });
    return out;
}

Tensor HeadNorm::pull_back(std::size_t operand, const Backward& b) const {
    const Tensor& x = b.in[0];
    const Index heads = x.dim(1), positions = x.dim(2), d_head = x.dim(3);
    Tensor out(b.in[operand].axes());
    const std::span<float> to = out.writable();
    std::vector<double> sums(operand == 1 ? to.size() : 0);
    for (Index batch = 0; batch < x.dim(0); ++batch) {
        for (Index head = 0; head < heads; ++head) {
            for (Index pos = 0; pos < positions; ++pos) {
                const double scale = scale_of(x, batch, head, pos), along = along_the_row(b, batch, head, pos);
                const auto [first, last] = heads_with(head, heads);
                const double n = static_cast<double>((last - first) * d_head);
                for (Index d = 0; d < d_head; ++d) {
                    const auto i = static_cast<std::size_t>(((batch * heads + head) * positions + pos) * d_head + d);
                    const double grad = static_cast<double>(b.grad.data()[i]), value = static_cast<double>(x.data()[i]);
                    if (operand == 1)
                        sums[static_cast<std::size_t>(gain_index(head, d, d_head))] += grad * value / scale;
                    else
                        to[i] = static_cast<float>(grad * gain_of(b.in, head, d, d_head) / scale -
                                                   value * along / (n * scale * scale * scale));
                }
            }
        }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = static_cast<float>(sums[i]);
    return out;
}

// Σ grad · gain · x over what is normalised together.
double HeadNorm::along_the_row(const Backward& b, Index batch, Index head, Index pos) const {
    const auto [first, last] = heads_with(head, b.in[0].dim(1));
    const Index d_head = b.in[0].dim(3);
    double sum = 0.0;
    for (Index h = first; h < last; ++h)
        for (Index d = 0; d < d_head; ++d) {
            const Cell at = {batch, h, pos, d};
            sum +=
                static_cast<double>(b.grad.at(at)) * gain_of(b.in, h, d, d_head) * static_cast<double>(b.in[0].at(at));
        }
    return sum;
}

}  // namespace decoderscope::ops
