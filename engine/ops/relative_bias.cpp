#include "engine/ops/relative_bias.h"

#include "engine/parallel.h"
#include "engine/translate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

namespace decoderscope {

// In float32, as transformers' T5Attention._relative_position_bucket computes it.
Index relative_bucket(Index distance, Index rows, Index max_distance, bool both_ways) {
    Index first = 0;
    if (both_ways) {
        rows /= 2;
        if (distance > 0) first = rows;
        distance = std::abs(distance);
    } else {
        distance = std::max<Index>(-distance, 0);
    }
    const Index exact = rows / 2;
    if (distance < exact) return first + distance;
    const auto farthest = static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
    const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) / farthest;
    return first + std::min(exact + static_cast<Index>(part * static_cast<float>(rows - exact)), rows - 1);
}

Index RelativeBias::row_of(Index query, Index key, Index rows) const {
    return relative_bucket(key - (first_query + query), rows, max_distance, both_ways);
}

About RelativeBias::about() const {
    return {
        tr("relative position bias"), "scores[b, h, q, k] = q·k + table[bucket(k − q), h]",
        tr("Each head learned how much it likes every distance: a number that is added to the score, whatever stands "
           "there. Near distances have a number each, farther ones share one with their neighbours, and all blocks "
           "share the table of the first. No position is added to the stream (T5). No mask has been applied yet.")};
}

Tensor RelativeBias::compute(const Operands& in, const Axes& axes) const {
    const Index heads = axes[1].size, queries = axes[2].size, keys = axes[3].size, rows = in[1].dim(0);
    Tensor out(axes);
    const float* scores = in[0].data();
    const float* table = in[1].data();
    float* to = out.writable().data();
    std::vector<Index> row(static_cast<std::size_t>(queries * keys));  // of the table, [query, key]
    for (Index q = 0; q < queries; ++q)
        for (Index k = 0; k < keys; ++k) row[static_cast<std::size_t>(q * keys + k)] = row_of(q, k, rows);
    each_in_parallel(axes[0].size * heads, queries * keys, [&](Index plane) {
        const Index head = plane % heads, begin = plane * queries * keys;
        for (Index i = 0; i < queries * keys; ++i)
            to[begin + i] = scores[begin + i] + table[row[static_cast<std::size_t>(i)] * heads + head];
    });
    return out;
}

Explanation RelativeBias::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Index row = row_of(cell[2], cell[3], in[1].dim(0));
    return {{line("q · k + table[k − q]",
                  {term({cell_factor(in[0], 0, cell)}), term({cell_factor(in[1], 1, {row, cell[1]})})})}};
}

// ---- the gradients: scores + table[bucket]

About RelativeBias::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient before the bias"), "∂/∂scores = grad", tr("A sum hands what comes back on as it is.")};
    return {tr("gradient by the table of distances"), "∂/∂table[r, h] = Σ_{bucket(k − q) = r} grad[b, h, q, k]",
            tr("A distance's number gathers what comes back from every pair of positions that are so far apart.")};
}

Tensor RelativeBias::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 0) return b.grad;
    const Tensor& table = b.in[1];
    const Index heads = b.grad.dim(1), queries = b.grad.dim(2), keys = b.grad.dim(3);
    std::vector<double> sums(static_cast<std::size_t>(table.size()));
    const float* grad = b.grad.data();
    for (Index plane = 0; plane < b.grad.dim(0) * heads; ++plane)
        for (Index q = 0; q < queries; ++q)
            for (Index k = 0; k < keys; ++k)
                sums[static_cast<std::size_t>(row_of(q, k, table.dim(0)) * heads + plane % heads)] +=
                    static_cast<double>(*grad++);
    Tensor out(table.axes());
    std::ranges::transform(sums, out.writable().begin(), [](double sum) { return static_cast<float>(sum); });
    return out;
}

Explanation RelativeBias::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    if (operand == 0) return {{line("grad", {term({b.grad_at(cell)})})}};
    std::vector<Term> terms;
    for (Index batch = 0; batch < b.grad.dim(0); ++batch)
        for (Index q = 0; q < b.grad.dim(2); ++q)
            for (Index k = 0; k < b.grad.dim(3); ++k)
                if (row_of(q, k, b.in[1].dim(0)) == cell[0]) terms.push_back(term({b.grad_at({batch, cell[1], q, k})}));
    return {{line("Σ grad", std::move(terms))}};
}

}  // namespace decoderscope
