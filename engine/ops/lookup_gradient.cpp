#include "engine/base/translate.h"
#include "engine/ops/embed.h"
#include "engine/ops/positions.h"

#include <algorithm>
#include <cmath>

// The gradients by tables that are looked up, and through rotations by position.
namespace decoderscope {

// ---- embed[b, p] = table[token[b, p]] · scale

About Embed::about_pull_back(std::size_t) const {
    return {tr("gradient by the table"), "∂/∂E[t, d] = scale · Σ_{token[b, p] = t} g[b, p, d]",
            tr("A token's row gathers what comes back from every place where the token stands; the other rows of the "
               "table learn nothing from this text.")};
}

Tensor Embed::pull_back(std::size_t, const Backward& b) const {
    const Index width = b.in[1].dim(1);
    Tensor out(b.in[1].axes());
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    const float* grad = b.grad.data();
    for (const float token : b.in[0].values())
        for (Index d = 0; d < width; ++d)
            to[static_cast<std::size_t>(static_cast<Index>(token) * width + d)] += scale * *grad++;
    return out;
}

Explanation Embed::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    for (Index batch = 0; batch < b.in[0].dim(0); ++batch) {
        for (Index pos = 0; pos < b.in[0].dim(1); ++pos) {
            if (static_cast<Index>(b.in[0].at(Cell{batch, pos})) != cell[0]) continue;
            std::vector<Factor> factors = {b.grad_at({batch, pos, cell[1]})};
            if (scale != 1.0F) factors.push_back(constant_factor(static_cast<double>(scale), "√d_model"));
            terms.push_back(term(std::move(factors)));
        }
    }
    return {{line("Σ g", std::move(terms))}};
}

// ---- pos_embed[p] = table[first + p] · scale

About LearnedPositions::about_pull_back(std::size_t) const {
    return {tr("gradient by the table of positions"), "∂/∂P[p, d] = scale · g[p, d]",
            tr("Each position's row gets what comes back from it; rows beyond this text get nothing.")};
}

Tensor LearnedPositions::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.in[0].axes());
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    const auto at = static_cast<std::size_t>(first * b.in[0].dim(1));
    for (std::size_t i = 0; i < static_cast<std::size_t>(b.grad.size()); ++i)
        to[at + i] = static_cast<float>(scale * static_cast<double>(b.grad.data()[i]));
    return out;
}

Explanation LearnedPositions::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const Index row = cell[0] - first;
    if (row < 0 || row >= b.grad.dim(0)) return {{line("g", {term({constant_factor(0.0, tr("not read"))})})}};
    std::vector<Factor> factors = {b.grad_at({row, cell[1]})};
    if (scale != 1.0) factors.push_back(constant_factor(scale, "position_scale"));
    return {{line("g", {term(std::move(factors))})}};
}

// ---- y = x turned by its position's angle

About Rope::about_pull_back(std::size_t) const {
    return {tr("gradient before the rotation"), "∂/∂x = R(−φ) · g",
            tr("What was turned on the way there is turned back by the same angle.")};
}

Tensor Rope::pull_back(std::size_t, const Backward& b) const {
    const Index positions = b.grad.dim(2), d_head = b.grad.dim(3);
    Tensor out(b.grad.axes());
    const float* from = b.grad.data();
    float* to = out.writable().data();
    for (Index row = 0; row < b.grad.size() / d_head; ++row, from += d_head, to += d_head) {
        for (Index pair = 0; pair < columns / 2; ++pair) {
            const auto [x, y] = columns_of(pair);
            const float angle = angle_of(first + row % positions, pair);
            const float cosine = std::cos(angle), sine = std::sin(angle);
            to[x] = from[x] * cosine + from[y] * sine;
            to[y] = from[y] * cosine - from[x] * sine;
        }
        std::copy(from + columns, from + d_head, to + columns);
    }
    return out;
}

Explanation Rope::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return explain_turn(cell, true, [&](const Cell& at) { return b.grad_at(at); });
}

}  // namespace decoderscope
