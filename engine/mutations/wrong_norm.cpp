#include "engine/mutations/wrong_norm.h"

#include "engine/ops/norm_row.h"
#include "engine/row_math.h"
#include "engine/translate.h"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace decoderscope {

About WrongScale::about() const {
    return {tr("a norm's scale, computed otherwise"), "scale[b, p] = std_d x[b, p, d]",
            tr("The spread of the row by another formula: over n − 1 instead of n, or with eps added outside the "
               "root. For short rows it shows; for long ones hardly.")};
}

bool WrongScale::operator==(const WrongScale& other) const {
    return facts.centred == other.facts.centred && facts.eps == other.facts.eps &&
           facts.eps_outside == other.facts.eps_outside && facts.unbiased == other.facts.unbiased;
}

double WrongScale::scale_of(const Tensor& x, Index row) const {
    const std::span<const float> values = row_of(x, row);
    const double squares = row::squares(values, centre_of(values, facts.centred));
    return facts.scale_of(squares, static_cast<double>(values.size()));
}

Tensor WrongScale::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> scale = out.writable();
    for (Index row = 0; row < out.size(); ++row)
        scale[static_cast<std::size_t>(row)] = static_cast<float>(scale_of(in[0], row));
    return out;
}

Explanation WrongScale::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const double scale = scale_of(in[0], cell[0] * in[0].dim(1) + cell[1]);
    return {{line(tr("scale"), {term({constant_factor(scale, tr("spread of the row"))})})}};
}

About NormOverPositions::about() const {
    return {tr("LayerNorm over positions"),
            "y[b, p, d] = (x[b, p, d] − mean_p) / √(variance_p + eps) · gain[d] + shift[d]",
            tr("Mean and variance are taken along the text, not along the row: each position sees all others, the "
               "later ones included.")};
}

namespace {

// Mean and variance of one column of one batch row, over its positions.
std::pair<double, double> moments(const Tensor& x, Index batch, Index column) {
    double sum = 0.0, squares = 0.0;
    const Index positions = x.dim(1);
    for (Index p = 0; p < positions; ++p) sum += static_cast<double>(x.at(Cell{batch, p, column}));
    const double mean = sum / static_cast<double>(positions);
    for (Index p = 0; p < positions; ++p)
        squares += std::pow(static_cast<double>(x.at(Cell{batch, p, column})) - mean, 2);
    return {mean, squares / static_cast<double>(positions)};
}

}  // namespace

Tensor NormOverPositions::compute(const Operands& in, const Axes& axes) const {
    const Tensor& x = in[0];
    Tensor out(axes);
    const std::span<float> y = out.writable();
    for (Index b = 0; b < x.dim(0); ++b) {
        for (Index d = 0; d < x.dim(2); ++d) {
            const auto [mean, variance] = moments(x, b, d);
            const double scale = std::sqrt(variance + eps);
            for (Index p = 0; p < x.dim(1); ++p) {
                const auto at = static_cast<std::size_t>(x.offset(Cell{b, p, d}));
                const double normalized = (static_cast<double>(x.data()[at]) - mean) / scale;
                const double shift = in.size() > 2 ? static_cast<double>(in[2].data()[d]) : 0.0;
                y[at] = static_cast<float>(normalized * static_cast<double>(in[1].data()[d]) + shift);
            }
        }
    }
    return out;
}

Explanation NormOverPositions::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const auto [mean, variance] = moments(in[0], cell[0], cell[2]);
    const auto value = static_cast<double>(in[0].at(cell));
    const double scale = std::sqrt(variance + eps);
    std::vector<Term> terms = {
        term({derived_factor(value - mean, "(" + short_number(value) + " − " + short_number(mean) + ")", 0, cell),
              constant_factor(1.0 / scale, "1/" + short_number(scale)), cell_factor(in[1], 1, {cell[2]})})};
    if (in.size() > 2) terms.push_back(term({cell_factor(in[2], 2, {cell[2]})}));
    return {{line("normalized", std::move(terms))}};
}

About PartialNorm::about() const {
    return {tr("a norm with a part left out"), "y[b, p, d] = (x[b, p, d] − mean?) / scale[b, p] · gain[d]? + shift[d]?",
            tr("The mean, the gain or the shift is not applied, as if it were 0, 1 or 0. With weights as they are "
               "initialised nothing would be seen of it; with trained ones it is.")};
}

Tensor PartialNorm::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> y = out.writable();
    const std::size_t width = static_cast<std::size_t>(axes.back().size);
    for (Index row = 0; row < in[1].size(); ++row) {
        const std::span<const float> x = row_of(in[0], row);
        const double centre = centre_of(x, centred);
        const auto scale = static_cast<double>(in[1].data()[row]);
        for (std::size_t d = 0; d < width; ++d) {
            double value = (static_cast<double>(x[d]) - centre) / scale;
            if (gain) value *= static_cast<double>(in[2].data()[d]);
            if (shift) value += static_cast<double>(in[gain ? 3 : 2].data()[d]);
            y[static_cast<std::size_t>(row) * width + d] = static_cast<float>(value);
        }
    }
    return out;
}

Explanation PartialNorm::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const std::span<const float> row = row_of(in[0], cell);
    const double centre = centre_of(row, centred);
    const auto value = static_cast<double>(in[0].at(cell));
    const auto scale = static_cast<double>(in[1].at(Cell{cell[0], cell[1], 0}));
    std::vector<Factor> factors = {
        derived_factor(value - centre, "(" + short_number(value) + " − " + short_number(centre) + ")", 0, cell),
        derived_factor(1.0 / scale, "1/" + short_number(scale), 1, {cell[0], cell[1], 0})};
    if (gain) factors.push_back(cell_factor(in[2], 2, {cell[2]}));
    std::vector<Term> terms = {term(std::move(factors))};
    const std::size_t at = gain ? 3 : 2;
    if (shift) terms.push_back(term({cell_factor(in[at], at, {cell[2]})}));
    return {{line("normalized", std::move(terms))}};
}

}  // namespace decoderscope
