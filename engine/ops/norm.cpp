#include "engine/ops/norm.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <vector>

namespace decoderscope {

namespace {

constexpr Index kNormCost = 8;  // of one number, in multiply-adds

Line mean_line(const Tensor& x, const Cell& cell) {
    const Index n = x.dim(2);
    std::vector<Term> terms;
    for (Index d = 0; d < n; ++d)
        terms.push_back(term({cell_factor(x, 0, {cell[0], cell[1], d}),
                              constant_factor(1.0 / static_cast<double>(n), "1/" + std::to_string(n))}));
    return line(tr("mean"), std::move(terms));
}

}  // namespace

About NormScale::about() const {
    if (kind == NormKind::layernorm_std)
        return {tr("scale of LayerNorm by the standard deviation"), "scale[b, p] = std_d x[b, p, d] + eps",
                tr("How far the row's numbers spread about their mean, over n − 1 as torch.std has it, and eps added "
                   "outside the root. The Annotated Transformer writes its norm this way. torch.nn.LayerNorm takes the "
                   "variance over n with eps under the root: for short rows the two differ visibly.")};
    if (!is_centred(kind))
        return {tr("scale of RMSNorm"), "scale[b, p] = √(mean_d x[b, p, d]² + eps)",
                tr("The size of the row, by which the norm divides. RMSNorm does without the mean: it costs less, and "
                   "trains as well (Zhang & Sennrich 2019; Llama uses it).")};
    return {tr("scale of LayerNorm"), "scale[b, p] = √(variance_d x[b, p, d] + eps)",
            tr("How far the row's numbers spread about their mean: what the norm divides by. In a Pre-Norm model it "
               "grows with depth, because every block adds to a stream that nothing shrinks; under Post-Norm it stays "
               "near where it was.")};
}

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

Explanation NormScale::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const row::In row = row_of(in[0], cell);
    const bool centred = is_centred(kind);
    const std::size_t n = facts().unbiased ? row.size() - 1 : row.size();
    Explanation explanation;
    if (centred) explanation.lines.push_back(mean_line(in[0], cell));
    const double centre = centre_of(row, centred);
    std::vector<Term> squares;
    for (std::size_t d = 0; d < row.size(); ++d) {
        const double off = static_cast<double>(row[d]) - centre;
        const std::string text = centred ? "(" + short_number(static_cast<double>(row[d])) + " − mean)²"
                                         : short_number(static_cast<double>(row[d])) + "²";
        squares.push_back(term({derived_factor(off * off, text, 0, {cell[0], cell[1], static_cast<Index>(d)}),
                                constant_factor(1.0 / static_cast<double>(n), "1/" + std::to_string(n))}));
    }
    explanation.lines.push_back(line(centred ? tr("variance") : tr("mean square"), std::move(squares)));
    const double spread = explanation.lines.back().value;
    if (facts().eps_outside)
        explanation.lines.push_back(
            line("scale", {term({constant_factor(std::sqrt(spread), "√" + short_number(spread))}),
                           term({constant_factor(eps, "eps")})}));
    else
        explanation.lines.push_back(
            line("scale", {term({constant_factor(std::sqrt(spread + eps),
                                                 "√(" + short_number(spread) + " + " + short_number(eps) + ")")})}));
    return explanation;
}

About Normalize::about() const {
    if (kind == NormKind::rmsnorm_plus_one)
        return {tr("RMSNorm, gain 1 + weight"), "normalized[b, p, d] = x[b, p, d] / scale[b, p] · (1 + weight[d])",
                tr("Every row is brought to the same size; its direction stays. The weight is stored as its distance "
                   "from 1, so that weight decay pulls the gain to 1, not to 0. Gemma does this: read as a plain "
                   "RMSNorm, its weights would be off by 1 in every column.")};
    if (kind == NormKind::rmsnorm)
        return {tr("RMSNorm"), "normalized[b, p, d] = x[b, p, d] / scale[b, p] · gain[d]",
                tr("Every row is brought to the same size; its direction stays. The gain, one number a column, is "
                   "learned.")};
    return {tr("LayerNorm"), "normalized[b, p, d] = (x[b, p, d] − mean[b, p]) / scale[b, p] · gain[d] + shift[d]",
            tr("Every row gets mean 0 and variance 1 before gain and shift. Its place makes the architecture: on the "
               "branch, before the sublayer (Pre-Norm), the stream itself grows freely; on the stream, after the sum "
               "(Post-Norm), each block's sum is normalised before the next block reads it.")};
}

Tensor Normalize::compute(const Operands& in, const Axes& axes) const {
    std::vector<float> raised;
    row::In gain = in[2].values();
    if (gain_offset() != 0.0F) {
        for (const float weight : gain) raised.push_back(gain_offset() + weight);
        gain = raised;
    }
    const row::In shift = in.size() > 3 ? in[3].values() : row::In();
    Tensor out(axes);
    const row::Out to = out.writable();
    in_parallel(in[1].size(), axes.back().size * kNormCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::In row = row_of(in[0], r);
            row::normalize(row, centre_of(row, is_centred(kind)), static_cast<double>(in[1].data()[r]), gain, shift,
                           to.subspan(static_cast<std::size_t>(r) * row.size(), row.size()));
        }
    });
    return out;
}

Explanation Normalize::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Tensor& x = in[0];
    const Cell scale_cell = {cell[0], cell[1], 0};
    Explanation explanation;
    if (is_centred(kind)) explanation.lines.push_back(mean_line(x, cell));
    const double centre = is_centred(kind) ? explanation.lines.back().value : 0.0;
    const auto value = static_cast<double>(x.at(cell));
    const auto scale = static_cast<double>(in[1].at(scale_cell));
    const std::string centred = "(" + short_number(value) + " − " + short_number(centre) + ")";
    const auto weight = static_cast<double>(in[2].at(Cell{cell[2]}));
    std::vector<Term> terms = {
        term({is_centred(kind) ? derived_factor(value - centre, centred, 0, cell) : cell_factor(x, 0, cell),
              derived_factor(1.0 / scale, "1/" + short_number(scale), 1, scale_cell),
              gain_offset() != 0.0F ? derived_factor(1.0 + weight, "(1 + " + short_number(weight) + ")", 2, {cell[2]})
                                    : cell_factor(in[2], 2, {cell[2]})})};
    if (in.size() > 3) terms.push_back(term({cell_factor(in[3], 3, {cell[2]})}));
    explanation.lines.push_back(line("normalized", std::move(terms)));
    return explanation;
}

}  // namespace decoderscope
