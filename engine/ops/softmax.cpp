#include "engine/ops/softmax.h"

#include "engine/ops/masks.h"
#include "engine/parallel.h"
#include "engine/row_math.h"

#include <cmath>

namespace decoderscope {

namespace {

constexpr Index kCost = 16;  // of one number, in multiply-adds

}  // namespace

About Softmax::about() const {
    return {
        "softmax", "y[…, k] = exp(x[…, k] − max) / Σ_j exp(x[…, j] − max)",
        "Turns a row of scores into weights that are positive and sum to 1. What counts is the difference between "
        "scores: 1 more is e ≈ 2.7 times the weight. Taking the row's maximum off changes nothing but keeps exp from "
        "overflowing."};
}

Tensor Softmax::compute(const Operands& in, const Axes& axes) const {
    const Index n = axes.back().size, rows = element_count(axes) / n;
    const auto width = static_cast<std::size_t>(n);
    Tensor out(axes);
    const auto* masked = in[0].lazy<MaskedScores>();
    const float* from = masked == nullptr ? in[0].data() : nullptr;
    float* to = out.writable().data();
    in_parallel(rows, n * kCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            const row::Out y(to + r * n, width);
            if (masked != nullptr) masked->row(r, y);
            const row::In x = masked != nullptr ? row::In(y) : row::In(from + r * n, width);
            row::divide(y, row::exponentials(x, row::highest(x), y));
        }
    });
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
