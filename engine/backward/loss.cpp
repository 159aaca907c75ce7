#include "engine/backward/loss.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace decoderscope::backward {

namespace {

constexpr Index kExponentialCost = 8;  // in multiply-adds

std::span<const float> logits_at(const Tensor& logits, Index row) {
    const Index words = logits.dim(2);
    return logits.values().subspan(static_cast<std::size_t>(row * words), static_cast<std::size_t>(words));
}

Index counted(const Tensor& targets) {
    return static_cast<Index>(
        std::ranges::count_if(targets.values(), [](float target) { return target != kIgnoredTarget; }));
}

}  // namespace

OpDescription TokenLoss::about() const {
    return {tr("cross-entropy"), "loss_per_token[b, p] = log Σ_t exp(logits[b, p, t]) − logits[b, p, target]",
            tr("How surprised the model is by the right token: −log of the probability that it gave it. 0 means "
               "certain and right; log(vocab) means no idea; a confident mistake costs most.")};
}

Tensor TokenLoss::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> to = out.writable();
    in_parallel(out.size(), kExponentialCost * in[0].dim(2), [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) {
            const float target = in[1].data()[row];
            double loss = 0.0;
            if (target != kIgnoredTarget) {
                const std::span<const float> logits = logits_at(in[0], row);
                loss = row::log_sum_exp(logits) - static_cast<double>(logits[static_cast<std::size_t>(target)]);
            }
            to[static_cast<std::size_t>(row)] = static_cast<float>(loss);
        }
    });
    return out;
}

Explanation TokenLoss::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const float target = in[1].at(cell);
    if (target == kIgnoredTarget) return {{line("loss", {term({constant_factor(0.0, tr("left out"))})})}};
    const std::span<const float> logits = logits_at(in[0], in[1].offset(cell));
    const double highest = static_cast<double>(*std::ranges::max_element(logits));
    std::vector<Term> terms;
    for (std::size_t t = 0; t < logits.size(); ++t) {
        const auto value = static_cast<double>(logits[t]);
        terms.push_back(term({derived_factor(std::exp(value - highest), "exp(" + short_number(value) + " − max)", 0,
                                             {cell[0], cell[1], static_cast<Index>(t)})}));
    }
    Explanation explanation = {{line("Σ exp", std::move(terms))}};
    const double sum = explanation.lines.back().value;
    const Cell right = {cell[0], cell[1], static_cast<Index>(target)};
    explanation.lines.push_back(
        line("loss", {term({constant_factor(highest + std::log(sum), "max + log " + short_number(sum))}),
                      term({constant_factor(-1.0, "−1"), cell_factor(in[0], 0, right)})}));
    return explanation;
}

OpDescription TokenLoss::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. the logits"), "∂/∂logits[b, p, t] = g[b, p] · (softmax(logits)[t] − [t = target])",
            tr("Each token's logit is pushed down by the probability that it got, and the right one pulled up by how "
               "far its probability is from 1. A row sums to 0.")};
}

Tensor TokenLoss::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.in[0].axes());
    const auto words = static_cast<std::size_t>(out.dim(2));
    const std::span<float> to = out.writable();
    in_parallel(b.grad.size(), 2 * kExponentialCost * out.dim(2), [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) {
            const std::span<const float> logits = logits_at(b.in[0], row);
            const std::span<float> here = to.subspan(static_cast<std::size_t>(row) * words, words);
            const float target = b.in[1].data()[row];
            // The mean counts what is left out 0 times: that is 0, and NaN if the logits are, as in PyTorch.
            const auto grad = static_cast<double>(b.grad.data()[row]);
            const double total = row::log_sum_exp(logits);
            row::exponentials(logits, total, grad, here);
            if (target == kIgnoredTarget) continue;
            const auto right = static_cast<std::size_t>(target);
            here[right] = static_cast<float>(grad * (std::exp(static_cast<double>(logits[right]) - total) - 1.0));
        }
    });
    return out;
}

Explanation TokenLoss::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    const Cell position = {cell[0], cell[1]};
    const float target = b.in[1].at(position);
    const std::span<const float> logits = logits_at(b.in[0], b.in[1].offset(position));
    const double probability = std::exp(static_cast<double>(b.in[0].at(cell)) - row::log_sum_exp(logits));
    const double right = static_cast<float>(cell[2]) == target ? 1.0 : 0.0;
    return {{line("g · (p − [t = target])",
                  {term({b.grad_at(position),
                         derived_factor(probability - right, difference_text(probability, right), 0, cell)})})}};
}

OpDescription MeanLoss::about() const {
    return {tr("mean loss"), "loss = Σ loss_per_token / N", tr("The one number that training makes smaller.")};
}

Tensor MeanLoss::compute(const Operands& in, const Axes& axes) const {
    double sum = 0.0;
    for (const float loss : in[0].values()) sum += static_cast<double>(loss);
    Tensor out(axes);
    out.writable()[0] = static_cast<float>(sum / static_cast<double>(counted(in[1])));
    return out;
}

Explanation MeanLoss::explain(const Operands& in, const Tensor&, const Cell&) const {
    const Index count = counted(in[1]);
    std::vector<Term> terms;
    for (Index i = 0; i < in[0].size(); ++i)
        if (in[1].data()[i] != kIgnoredTarget)
            terms.push_back(term({cell_factor(in[0], 0, in[0].cell(i)),
                                  constant_factor(1.0 / static_cast<double>(count), "1/" + std::to_string(count))}));
    return {{line("loss", std::move(terms))}};
}

OpDescription MeanLoss::about_pull_back(std::size_t) const {
    return {tr("gradient w.r.t. each position's loss"), "∂/∂loss_per_token[b, p] = g / N",
            tr("All positions that aren't ignored count equally in the mean.")};
}

Tensor MeanLoss::pull_back(std::size_t, const Backward& b) const {
    const auto share =
        static_cast<float>(static_cast<double>(b.grad.data()[0]) / static_cast<double>(counted(b.in[1])));
    Tensor out(b.in[0].axes());
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = b.in[1].data()[i] != kIgnoredTarget ? share : 0.0F;
    return out;
}

Explanation MeanLoss::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    if (b.in[1].at(cell) == kIgnoredTarget) return {{line("g", {term({constant_factor(0.0, tr("left out"))})})}};
    const Index count = counted(b.in[1]);
    return {{line("g", {term({b.grad_at({0}),
                              constant_factor(1.0 / static_cast<double>(count), "1/" + std::to_string(count))})})}};
}

}  // namespace decoderscope::backward
