#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/masks.h"
#include "engine/ops/softmax.h"

#include <cmath>

// The gradients on the way from scores to weights.
namespace decoderscope {

namespace {

constexpr Index kWeightsGradientCost = 8;  // of one number, in multiply-adds

}  // namespace

// ---- y = softmax(x)

About Softmax::about_pull_back(std::size_t) const {
    return {tr("gradient by the scores"), "∂/∂x[…, k] = y[…, k] · (g[…, k] − Σ_j g[…, j] · y[…, j])",
            tr("Weights sum to 1, so one grows only at the others' cost: what counts is how much better a key is than "
               "the row's average. Each row of this gradient sums to 0, and where the weight is 0 (behind a mask, or "
               "lost in a one-hot row) nothing comes through at all.")};
}

Tensor Softmax::pull_back(std::size_t, const Backward& b) const {
    const Index n = b.out.axes().back().size;
    Tensor out(b.out.axes());
    float* to = out.writable().data();
    const float* y = b.out.data();
    const float* grad = b.grad.data();
    in_parallel(out.size() / n, n * kWeightsGradientCost, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
            double average = 0.0;
            for (Index k = r * n; k < (r + 1) * n; ++k)
                average += static_cast<double>(grad[k]) * static_cast<double>(y[k]);
            for (Index k = r * n; k < (r + 1) * n; ++k)
                to[k] = static_cast<float>(static_cast<double>(y[k]) * (static_cast<double>(grad[k]) - average));
        }
    });
    return out;
}

Explanation Softmax::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    for (Index k = 0; k < b.out.axes().back().size; ++k) {
        Cell at = cell;
        at.back() = k;
        terms.push_back(term({b.grad_at(at), b.out_at(at)}));
    }
    Explanation explanation = {{line(tr("average"), std::move(terms))}};
    const double average = explanation.lines.back().value, grad = static_cast<double>(b.grad.at(cell));
    explanation.lines.push_back(
        line("y · (g − average)",
             {term({b.out_at(cell),
                    derived_factor(grad - average, "(" + short_number(grad) + " − " + short_number(average) + ")",
                                   b.in.size() + 1, cell)})}));
    return explanation;
}

// ---- masked = mask ? scores : value

About FillMasked::about_pull_back(std::size_t) const {
    return {
        tr("gradient by the scores before the mask"), "∂/∂scores = mask ? g : 0",
        tr("A masked score was thrown away and replaced by a constant: whatever it is, the target doesn't notice.")};
}

Tensor FillMasked::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.grad.axes());
    const float* grad = b.grad.data();
    const float* kept = b.in[1].data();
    float* to = out.writable().data();
    in_parallel(out.size(), kWeightsGradientCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) to[i] = kept[i] != 0.0F ? grad[i] : 0.0F;
    });
    return out;
}

Explanation FillMasked::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const bool kept = b.in[1].at(cell) != 0.0F;
    Line passed = line("g", {kept ? term({b.grad_at(cell)}) : term({constant_factor(0.0, tr("masked"))})});
    passed.given.push_back(derived_factor(kept ? 1.0 : 0.0, "mask", 1, cell));  // not a message: a tensor's name
    return {{passed}};
}

// ---- y = cap · tanh(x / cap)

About SoftCap::about_pull_back(std::size_t) const {
    return {tr("gradient before the cap"), "∂/∂x = g · (1 − (y / cap)²)",
            tr("Near the cap the curve is flat, so little comes through; small numbers pass theirs on nearly whole.")};
}

Tensor SoftCap::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.grad.axes());
    const float* y = b.out.data();
    const float* grad = b.grad.data();
    for (float& to : out.writable()) {
        const double part = static_cast<double>(*y++) / cap;
        to = static_cast<float>(static_cast<double>(*grad++) * (1.0 - part * part));
    }
    return out;
}

Explanation SoftCap::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const double y = static_cast<double>(b.out.at(cell)), part = y / cap;
    const std::string text = "(1 − (" + short_number(y) + " / " + short_number(cap) + ")²)";
    return {{line("g", {term({b.grad_at(cell), derived_factor(1.0 - part * part, text, b.in.size(), cell)})})}};
}

}  // namespace decoderscope
