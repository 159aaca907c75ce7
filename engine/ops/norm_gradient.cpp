#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/ops/head_norm.h"
#include "engine/ops/norm.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <vector>

// The gradients of the norms. scale and normalized are two steps, and so are their gradients: x is reached directly,
// and through the scale.
namespace decoderscope {

namespace {

constexpr Index kNormGradientCost = 16;  // of one number, in multiply-adds

// The cells of one column in all rows.
template <class Make>
std::vector<Term> down_the_rows(const Tensor& x, Index column, const Make& make) {
    std::vector<Term> terms;
    for (Index batch = 0; batch < x.dim(0); ++batch)
        for (Index pos = 0; pos < x.dim(1); ++pos) terms.push_back(make(Cell{batch, pos, column}));
    return terms;
}

}  // namespace

// ---- scale = √(mean square + eps), or std + eps

About NormScale::about_pull_back(std::size_t) const {
    return {tr("gradient through the scale"), "∂/∂x[b, p, d] = g[b, p] · (x[b, p, d] − mean) / (n · scale)",
            tr("Moving a number away from the mean makes the whole row's scale larger, and so everything that is "
               "divided by it smaller.")};
}

// ∂scale/∂x of a row is (x − centre) times this.
double NormScale::slope_of_row(double scale, double n) const {
    return facts().eps_outside ? 1.0 / ((n - (facts().unbiased ? 1.0 : 0.0)) * (scale - eps)) : 1.0 / (n * scale);
}

Tensor NormScale::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.in[0].axes());
    const Index n = out.axes().back().size;
    float* to = out.writable().data();
    in_parallel(b.out.size(), n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In x = row_of(b.in[0], r);
            const double centre = centre_of(x, is_centred(kind));
            const double slope = static_cast<double>(b.grad.data()[r]) *
                                 slope_of_row(static_cast<double>(b.out.data()[r]), static_cast<double>(n));
            for (Index d = 0; d < n; ++d)
                to[r * n + d] =
                    static_cast<float>((static_cast<double>(x[static_cast<std::size_t>(d)]) - centre) * slope);
        }
    });
    return out;
}

Explanation NormScale::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const Cell row_cell = {cell[0], cell[1], 0};
    const row::In x = row_of(b.in[0], cell);
    const double centre = centre_of(x, is_centred(kind)), scale = static_cast<double>(b.out.at(row_cell));
    const auto value = static_cast<double>(b.in[0].at(cell)), n = static_cast<double>(x.size());
    return {{line(
        "g · (x − mean) / (n · scale)",
        {term(
            {b.grad_at(row_cell),
             derived_factor(value - centre, "(" + short_number(value) + " − " + short_number(centre) + ")", 0, cell),
             derived_factor(slope_of_row(scale, n), short_number(slope_of_row(scale, n)), b.in.size(), row_cell)})})}};
}

// ---- normalized = (x − mean) / scale · gain + shift

About Normalize::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient through the norm"),
                is_centred(kind) ? "∂/∂x[b, p, d] = (g · gain / scale)[d] − mean_d(g · gain / scale)"
                                 : "∂/∂x[b, p, d] = g[b, p, d] · gain[d] / scale[b, p]",
                tr("The gradient is divided by the row's scale: the longer the row, the less a change of it counts. "
                   "In Post-Norm the stream itself passes through here in every block; in Pre-Norm it passes by.")};
    if (operand == 1)
        return {tr("gradient by the scale"),
                "∂/∂scale[b, p] = −Σ_d g[b, p, d] · gain[d] · (x[b, p, d] − mean) / scale²",
                tr("A larger scale makes the whole row smaller.")};
    if (operand == 2)
        return {tr("gradient by the gain"), "∂/∂gain[d] = Σ_bp g[b, p, d] · (x[b, p, d] − mean) / scale[b, p]",
                tr("A gain counts in every row: what it is multiplied by there, times what its output is worth.")};
    return {tr("gradient by the shift"), "∂/∂shift[d] = Σ_bp g[b, p, d]",
            tr("A shift is added in every row, so its gradient is the sum over all of them.")};
}

// ∂/∂x, without the way through the scale.
Tensor Normalize::by_rows(const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    const float* gains = b.in[2].data();
    Tensor out(b.in[0].axes());
    float* to = out.writable().data();
    in_parallel(rows, n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const float* grad = b.grad.data() + r * n;
            const double over_scale = 1.0 / static_cast<double>(b.in[1].data()[r]);
            const auto weighted = [&](Index d) {
                return static_cast<double>(grad[d]) *
                       (static_cast<double>(gains[d]) + static_cast<double>(gain_offset()));
            };
            double mean = 0.0;
            if (is_centred(kind)) {
                for (Index d = 0; d < n; ++d) mean += weighted(d);
                mean /= static_cast<double>(n);
            }
            for (Index d = 0; d < n; ++d) to[r * n + d] = static_cast<float>((weighted(d) - mean) * over_scale);
        }
    });
    return out;
}

Tensor Normalize::by_scale(const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    const float* gains = b.in[2].data();
    Tensor out(b.in[1].axes());
    float* to = out.writable().data();
    in_parallel(rows, n * kNormGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In x = row_of(b.in[0], r);
            const float* grad = b.grad.data() + r * n;
            const double centre = centre_of(x, is_centred(kind)), scale = static_cast<double>(b.in[1].data()[r]);
            double sum = 0.0;
            for (Index d = 0; d < n; ++d)
                sum -= static_cast<double>(grad[d]) *
                       (static_cast<double>(gains[d]) + static_cast<double>(gain_offset())) *
                       (static_cast<double>(x[static_cast<std::size_t>(d)]) - centre);
            to[r] = static_cast<float>(sum / (scale * scale));
        }
    });
    return out;
}

// By the gain or the shift: sums over all rows.
Tensor Normalize::by_parameter(bool gain, const Backward& b) const {
    const Index n = b.grad.axes().back().size, rows = b.grad.size() / n;
    std::vector<double> sums(static_cast<std::size_t>(n));
    for (Index r = 0; r < rows; ++r) {
        const row::In x = row_of(b.in[0], r), grad = row_of(b.grad, r);
        const double centre = gain ? centre_of(x, is_centred(kind)) : 0.0;
        const double over_scale = 1.0 / static_cast<double>(b.in[1].data()[r]);
        for (std::size_t d = 0; d < sums.size(); ++d)
            sums[d] += static_cast<double>(grad[d]) * (gain ? (static_cast<double>(x[d]) - centre) * over_scale : 1.0);
    }
    Tensor out(b.in[gain ? 2 : 3].axes());
    for (std::size_t d = 0; d < sums.size(); ++d) out.writable()[d] = static_cast<float>(sums[d]);
    return out;
}

Tensor Normalize::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 0) return by_rows(b);
    if (operand == 1) return by_scale(b);
    return by_parameter(operand == 2, b);
}

Explanation Normalize::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Index n = b.in[0].dim(2);
    const auto scale_of = [&](const Cell& at) { return static_cast<double>(b.in[1].at(Cell{at[0], at[1], 0})); };
    const auto centred = [&](const Cell& at) {
        const double centre = centre_of(row_of(b.in[0], at), is_centred(kind));
        const auto x = static_cast<double>(b.in[0].at(at));
        return derived_factor(x - centre, "(" + short_number(x) + " − " + short_number(centre) + ")", 0, at);
    };
    const auto gain_at = [&](Index d) {
        const double gain = static_cast<double>(b.in[2].at(Cell{d})) + static_cast<double>(gain_offset());
        return derived_factor(gain, short_number(gain), 2, {d});
    };
    const auto over_scale = [&](const Cell& at, double power) {
        const double scale = scale_of(at);
        return derived_factor(1.0 / std::pow(scale, power), "1/" + short_number(scale) + (power == 2.0 ? "²" : ""), 1,
                              {at[0], at[1], 0});
    };
    if (operand >= 2) {
        std::vector<Term> terms = down_the_rows(b.grad, cell[0], [&](const Cell& at) {
            if (operand == 3) return term({b.grad_at(at)});
            return term({b.grad_at(at), centred(at), over_scale(at, 1.0)});
        });
        return {{line("Σ g", std::move(terms))}};
    }
    if (operand == 1) {
        std::vector<Term> terms;
        for (Index d = 0; d < n; ++d) {
            const Cell at = {cell[0], cell[1], d};
            terms.push_back(
                term({constant_factor(-1.0, "−1"), b.grad_at(at), gain_at(d), centred(at), over_scale(at, 2.0)}));
        }
        return {{line("−Σ g · gain · (x − mean) / scale²", std::move(terms))}};
    }
    Explanation explanation;
    std::vector<Term> direct = {term({b.grad_at(cell), gain_at(cell[2]), over_scale(cell, 1.0)})};
    if (is_centred(kind)) {
        std::vector<Term> all;
        for (Index d = 0; d < n; ++d) {
            const Cell at = {cell[0], cell[1], d};
            all.push_back(term({b.grad_at(at), gain_at(d), over_scale(at, 1.0),
                                constant_factor(1.0 / static_cast<double>(n), "1/" + std::to_string(n))}));
        }
        explanation.lines.push_back(line(tr("mean"), std::move(all)));
        direct.push_back(term({constant_factor(-explanation.lines.back().value, tr("−mean"))}));
    }
    explanation.lines.push_back(line("g", std::move(direct)));
    return explanation;
}

// ---- RMSNorm of queries or keys

About HeadNorm::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient through the norm"),
                "∂/∂x[d] = (g · gain)[d] / s − x[d] · Σ_j (g · gain · x)[j] / (n · s³)",
                tr("Only the part of the gradient across the vector comes through: its length is normalised away.")};
    return {tr("gradient by the gain"), "∂/∂gain[d] = Σ g[b, h, p, d] · x[b, h, p, d] / s[b, h, p]",
            tr("A gain counts in every row: what it is multiplied by there, times what its output is worth.")};
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
                        to[i] = static_cast<float>(grad * gain_of(b.in[1], head, d, d_head) / scale -
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
            sum += static_cast<double>(b.grad.at(at)) * gain_of(b.in[1], h, d, d_head) *
                   static_cast<double>(b.in[0].at(at));
        }
    return sum;
}

Explanation HeadNorm::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    const Tensor& x = b.in[0];
    const Index d_head = x.dim(3);
    const auto over_scale = [&](Index batch, Index head, Index pos) {
        const double scale = scale_of(x, batch, head, pos);
        return constant_factor(1.0 / scale, "1/" + short_number(scale));
    };
    std::vector<Term> terms;
    if (operand == 1) {
        const Index d = cell[0] % d_head;
        for (Index batch = 0; batch < x.dim(0); ++batch)
            for (Index head = 0; head < x.dim(1); ++head)
                for (Index pos = 0; pos < x.dim(2); ++pos)
                    if (gain_index(head, d, d_head) == cell[0])
                        terms.push_back(term({b.grad_at({batch, head, pos, d}), b.in_at(0, {batch, head, pos, d}),
                                              over_scale(batch, head, pos)}));
        return {{line("Σ g · x / scale", std::move(terms))}};
    }
    const auto [first, last] = heads_with(cell[1], x.dim(1));
    const auto gain_at = [&](Index head, Index d) {
        const double gain = gain_of(b.in[1], head, d, d_head);
        return derived_factor(gain, short_number(gain), 1, {gain_index(head, d, d_head)});
    };
    for (Index head = first; head < last; ++head)
        for (Index d = 0; d < d_head; ++d) {
            const Cell at = {cell[0], head, cell[2], d};
            terms.push_back(term({b.grad_at(at), gain_at(head, d), b.in_at(0, at)}));
        }
    Explanation explanation = {{line("Σ g · gain · x", std::move(terms))}};
    const double along = explanation.lines.back().value, scale = scale_of(x, cell[0], cell[1], cell[2]);
    const double n = static_cast<double>((last - first) * d_head);
    explanation.lines.push_back(
        line("g", {term({b.grad_at(cell), gain_at(cell[1], cell[3]), over_scale(cell[0], cell[1], cell[2])}),
                   term({b.in_at(0, cell), constant_factor(-along, "−(" + short_number(along) + ")"),
                         constant_factor(1.0 / (n * scale * scale * scale), "1/(n · scale³)")})}));
    return explanation;
}

}  // namespace decoderscope
