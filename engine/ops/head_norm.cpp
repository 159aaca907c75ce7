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
    if (centred) return {"head_layer_norm", {"x", "gain", "shift"}, {{"eps", eps}}};
    const std::string label = across_heads ? "norm_across_heads" : "head_norm";
    return {plus_one ? label + "_plus_one" : label, {"x", "gain"}, {{"eps", eps}}};
}

double HeadNorm::scale_of(const Tensor& x, Index batch, Index head, Index pos, double centre) const {
    const auto [first, last] = heads_with(head, x.dim(1));
    double squares = 0.0;
    for (Index h = first; h < last; ++h) squares += row::squares(row_of(x, batch, h, pos), centre);
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
    const Row shift = in.size() > 2 ? Row(in[2].values()) : Row();
    Tensor out(axes);
    const row::Out to = out.writable();
    in_parallel(axes[0].size * heads * positions, d_head * kHeadNormCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const Index pos = r % positions, head = r / positions % heads, batch = r / positions / heads;
            const Row own = across_heads ? Row(gain).subspan(static_cast<std::size_t>(head * d_head)) : Row(gain);
            const Row x = row_of(in[0], batch, head, pos);
            const double centre = centred ? row::sum(x) / static_cast<double>(d_head) : 0.0;
            row::normalize(x, centre, scale_of(in[0], batch, head, pos, centre), own, shift, row_as,
                           to.subspan(static_cast<std::size_t>(r * d_head), static_cast<std::size_t>(d_head)));
        }
    });
    return out;
}

}  // namespace decoderscope::ops
