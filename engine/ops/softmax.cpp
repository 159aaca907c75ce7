#include "engine/ops/softmax.h"

#include <algorithm>
#include <cmath>

namespace decoderscope {

About Softmax::about() const {
    return {
        "softmax", "y[…, k] = exp(x[…, k] − max) / Σ_j exp(x[…, j] − max)",
        "Turns a row of scores into weights that are positive and sum to 1. What counts is the difference between "
        "scores: 1 more is e ≈ 2.7 times the weight. Taking the row's maximum off changes nothing but keeps exp from "
        "overflowing."};
}

Tensor Softmax::compute(const Operands& in, const Axes& axes) const {
    const Index n = axes.back().size;
    Tensor out(axes);
    const float* from = in[0].data();
    float* to = out.writable().data();
    for (Index start = 0; start < out.size(); start += n, from += n, to += n) {
        const float highest = *std::max_element(from, from + n);
        double sum = 0.0;
        for (Index k = 0; k < n; ++k) sum += static_cast<double>(to[k] = std::exp(from[k] - highest));
        for (Index k = 0; k < n; ++k) to[k] = static_cast<float>(static_cast<double>(to[k]) / sum);
    }
    return out;
}

Explanation Softmax::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Tensor& x = in[0];
    const Index n = x.axes().back().size;
    const auto neighbour = [&](Index k) {
        Cell other = cell;
        other.back() = k;
        return other;
    };
    Cell top = neighbour(0);
    for (Index k = 1; k < n; ++k)
        if (x.at(neighbour(k)) > x.at(top)) top = neighbour(k);
    const auto highest = static_cast<double>(x.at(top));
    const auto exponential = [&](const Cell& at) {
        const auto value = static_cast<double>(x.at(at));
        return derived_factor(std::exp(value - highest), "exp(" + short_number(value) + " − max)", 0, at);
    };
    std::vector<Term> exponentials;
    for (Index k = 0; k < n; ++k) exponentials.push_back(term({exponential(neighbour(k))}));

    Explanation explanation;
    explanation.lines.push_back(line("max", {term({cell_factor(x, 0, top)})}));
    explanation.lines.push_back(line("Σ exp", std::move(exponentials)));
    const double sum = explanation.lines.back().value;
    explanation.lines.push_back(
        line("weight", {term({exponential(cell), constant_factor(1.0 / sum, "1/" + short_number(sum))})}));
    return explanation;
}

}  // namespace decoderscope
