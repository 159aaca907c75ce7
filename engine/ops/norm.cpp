#include "engine/ops/norm.h"

#include "engine/base/parallel.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <vector>

namespace decoderscope::ops {

namespace {

constexpr Index kNormCost = 8;  // of one number, in multiply-adds

}  // namespace

Tensor NormScale::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> scale = out.writable();
    in_parallel(out.size(), in[0].axes().back().size * kNormCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In row = row_of(in[0], r);
            const double squares = row::squares(row, centre_of(row, is_centred(kind)));
            scale[static_cast<std::size_t>(r)] =
                static_cast<float>(facts().scale_of(squares, static_cast<double>(row.size())));
        }
    });
    return out;
}

namespace {

constexpr Index kNormGradientCost = 16;  // of one number, in multiply-adds

}  // namespace

// ∂scale/∂x of a row is (x − centre) times this.
double NormScale::slope_of_row(double scale, double n) const {
    return facts().eps_outside ? 1.0 / ((n - (facts().unbiased ? 1.0 : 0.0)) * (scale - eps)) : 1.0 / (n * scale);
}

Tensor NormScale::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.in[0].axes());
    const Index n = out.axes().back().size;
    const row::Out to = out.writable();
    in_parallel(b.out.size(), n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In x = row_of(b.in[0], r);
            const double slope = static_cast<double>(b.grad.data()[r]) *
                                 slope_of_row(static_cast<double>(b.out.data()[r]), static_cast<double>(n));
            row::distances(x, centre_of(x, is_centred(kind)), slope, row_of(to, n, r));
        }
    });
    return out;
}

ByFormula Normalize::formula() const {
    if (!has_gain) return {is_centred(kind) ? "layernorm" : "rmsnorm", {"x", "scale", "shift"}};
    if (kind == NormKind::rmsnorm_plus_one) return {"rmsnorm_plus_one", {"x", "scale", "weight"}};
    if (kind == NormKind::layernorm_plus_one) return {"layernorm_plus_one", {"x", "scale", "weight", "shift"}};
    return {is_centred(kind) ? "layernorm" : "rmsnorm", {"x", "scale", "gain", "shift"}};
}

Normalize::Gains Normalize::gains_of(const Operands& in) const {
    Gains gains;
    gains.values = has_gain ? in[2].values() : row::In();
    if (!has_gain) gains.made.assign(static_cast<std::size_t>(in[0].axes().back().size), 1.0F);
    if (gain_offset() != 0.0F)
        for (const float weight : gains.values) gains.made.push_back(gain_offset() + weight);
    if (!gains.made.empty()) gains.values = gains.made;
    return gains;
}

Tensor Normalize::compute(const Operands& in, const Axes& axes) const {
    const Gains gains = gains_of(in);
    const row::In shift = in.size() > shift_operand() ? in[shift_operand()].values() : row::In();
    Tensor out(axes);
    const row::Out to = out.writable();
    in_parallel(in[1].size(), axes.back().size * kNormCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In row = row_of(in[0], r);
            row::normalize(row, centre_of(row, is_centred(kind)), static_cast<double>(in[1].data()[r]), gains.values,
                           shift, row_as, row_of(to, axes.back().size, r));
        }
    });
    return out;
}

// ∂/∂x, without the way through the scale.
Tensor Normalize::by_rows(const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    const Gains gains = gains_of(b.in);
    Tensor out(b.in[0].axes());
    const row::Out to = out.writable();
    in_parallel(rows, n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r)
            row::normalize_back(row_of(b.grad, r), gains.values, is_centred(kind),
                                static_cast<double>(b.in[1].data()[r]), row_of(to, n, r));
    });
    return out;
}

Tensor Normalize::by_scale(const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    const Gains gains = gains_of(b.in);
    Tensor out(b.in[1].axes());
    float* to = out.writable().data();
    in_parallel(rows, n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In x = row_of(b.in[0], r);
            const auto scale = static_cast<double>(b.in[1].data()[r]);
            to[r] = static_cast<float>(
                -row::slope_along(x, centre_of(x, is_centred(kind)), row_of(b.grad, r), gains.values) /
                (scale * scale));
        }
    });
    return out;
}

// With respect to the gain or the shift: sums over all rows.
Tensor Normalize::by_parameter(std::size_t operand, const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    std::vector<double> sums(static_cast<std::size_t>(n));
    if (operand == shift_operand()) {
        row::add_columns(b.grad.values(), sums);
    } else {
        for (Index r = 0; r < rows; ++r) {
            const row::In x = row_of(b.in[0], r);
            row::add_distances(x, centre_of(x, is_centred(kind)), 1.0 / static_cast<double>(b.in[1].data()[r]),
                               row_of(b.grad, r), sums);
        }
    }
    Tensor out(b.in[operand].axes());
    for (std::size_t d = 0; d < sums.size(); ++d) out.writable()[d] = static_cast<float>(sums[d]);
    return out;
}

Tensor Normalize::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 0) return by_rows(b);
    if (operand == 1) return by_scale(b);
    return by_parameter(operand, b);
}

}  // namespace decoderscope::ops
