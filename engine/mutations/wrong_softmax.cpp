#include "engine/mutations/wrong_softmax.h"

#include "engine/ops/softmax.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace decoderscope {

About SoftmaxAlong::about() const {
    return {tr("softmax over another axis"), "y[…, i, …] = exp(x[…, i, …]) / Σ_j exp(x[…, j, …])",
            tr("The weights of one key, not of one query, sum to 1: a wrong dim in the softmax. With the causal mask "
               "the last query keeps its weights nearly, which hides the mistake.")};
}

Tensor SoftmaxAlong::compute(const Operands& in, const Axes& axes) const {
    const Tensor& x = in[0];
    Tensor out(axes);
    const std::span<float> y = out.writable();
    Index inner = 1;
    for (std::size_t i = axis + 1; i < axes.size(); ++i) inner *= axes[i].size;
    const Index length = axes[axis].size;
    for (Index start = 0; start < x.size(); start += inner * length) {
        for (Index column = 0; column < inner; ++column) {
            const auto at = [&](Index i) { return static_cast<std::size_t>(start + i * inner + column); };
            float highest = -std::numeric_limits<float>::infinity();
            for (Index i = 0; i < length; ++i) highest = std::max(highest, x.data()[at(i)]);
            double sum = 0.0;
            for (Index i = 0; i < length; ++i) sum += std::exp(static_cast<double>(x.data()[at(i)] - highest));
            for (Index i = 0; i < length; ++i)
                y[at(i)] = static_cast<float>(std::exp(static_cast<double>(x.data()[at(i)] - highest)) / sum);
        }
    }
    return out;
}

Explanation SoftmaxAlong::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Tensor& x = in[0];
    Cell other = cell;
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (other[axis] = 0; other[axis] < x.dim(axis); ++other[axis])
        highest = std::max(highest, static_cast<double>(x.at(other)));
    for (other[axis] = 0; other[axis] < x.dim(axis); ++other[axis])
        sum += std::exp(static_cast<double>(x.at(other)) - highest);
    const auto value = static_cast<double>(x.at(cell));
    return {{line(tr("weight"),
                  {term({derived_factor(std::exp(value - highest), "exp(" + short_number(value) + " − max)", 0, cell),
                         constant_factor(1.0 / sum, "1/" + short_number(sum))})})}};
}

About SoftmaxThenMask::about() const {
    return {tr("softmax, then mask"), "y[…, k] = mask[…, k] · softmax(scores)[…, k]",
            tr("The softmax has already shared its whole weight, masked keys included, when the mask takes theirs "
               "away: rows sum to less than 1, and the future still has a say in what remains.")};
}

Tensor SoftmaxThenMask::compute(const Operands& in, const Axes& axes) const {
    Operands scores;
    scores.add(in[0]);
    Tensor out = Softmax{}.compute(scores, axes);
    const std::span<float> weights = out.writable();
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (in[1].data()[i] == 0.0F) weights[i] = 0.0F;
    return out;
}

Explanation SoftmaxThenMask::explain(const Operands& in, const Tensor& out, const Cell& cell) const {
    Operands scores;
    scores.add(in[0]);
    Explanation explanation = Softmax{}.explain(scores, out, cell);
    const double weight = explanation.lines.back().value;
    explanation.lines.push_back(
        line(tr("masked"), {term({constant_factor(weight, short_number(weight)), cell_factor(in[1], 1, cell)})}));
    return explanation;
}

About AddMask::about() const {
    return {tr("mask added to the scores"), "y[b, h, q, k] = scores[b, h, q, k] + (mask ? kept : hidden)",
            tr("A mask of zeros and ones is added to the scores. One more or less in a score is a factor of e, not "
               "nothing: the future is seen.")};
}

Tensor AddMask::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> y = out.writable();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0].data()[i] + (in[1].data()[i] != 0.0F ? kept : hidden);
    return out;
}

Explanation AddMask::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const float added = in[1].at(cell) != 0.0F ? kept : hidden;
    Line sum = line(tr("masked score"), {term({cell_factor(in[0], 0, cell)}),
                                         term({constant_factor(static_cast<double>(added), tr("added"))})});
    sum.given.push_back(derived_factor(static_cast<double>(in[1].at(cell)), "mask", 1, cell));
    return {{sum}};
}

}  // namespace decoderscope
