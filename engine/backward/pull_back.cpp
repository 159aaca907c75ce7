#include "engine/backward/pull_back.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"
#include "engine/tensor/storage.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

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

// The last two operands are the output and the gradient.
Operands own_operands(const Operands& in) {
    Operands own;
    for (std::size_t i = 0; i + 2 < in.size(); ++i) own.add(in[i]);
    return own;
}

// The sum of tensors of the same axes.
void add_up(std::span<const Tensor> parts, row::Out to) {
    in_parallel(static_cast<Index>(to.size()), kCopyCost, [&](Index begin, Index end) {
        const auto part = [&](auto values) {
            return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        };
        row::add(part(parts[0].values()), part(parts[1].values()), part(to));
        for (const Tensor& next : parts.subspan(2)) row::add(part(to), part(next.values()), part(to));
    });
}

class SumWhenRead : public LazyValues {
public:
    explicit SumWhenRead(std::vector<Tensor> parts) : parts_(std::move(parts)) {}
    void make(std::span<float> values) const override { add_up(parts_, values); }

private:
    std::vector<Tensor> parts_;
};

// Most of them are never read.
class Zeros : public LazyValues {
public:
    void make(std::span<float> values) const override { std::ranges::fill(values, 0.0F); }
};

}  // namespace

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

Tensor MeanLoss::compute(const Operands& in, const Axes& axes) const {
    double sum = 0.0;
    for (const float loss : in[0].values()) sum += static_cast<double>(loss);
    Tensor out(axes);
    out.writable()[0] = static_cast<float>(sum / static_cast<double>(counted(in[1])));
    return out;
}

Tensor MeanLoss::pull_back(std::size_t, const Backward& b) const {
    const auto share =
        static_cast<float>(static_cast<double>(b.grad.data()[0]) / static_cast<double>(counted(b.in[1])));
    Tensor out(b.in[0].axes());
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = b.in[1].data()[i] != kIgnoredTarget ? share : 0.0F;
    return out;
}

Tensor PullBack::compute(const Operands& in, const Axes& axes) const {
    const Operands own = own_operands(in);
    return of.pull_back(operand, {own, in[own.size()], in[own.size() + 1]}).with_axes(axes);
}

Explanation PullBack::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const Operands own = own_operands(in);
    return of.explain_pull_back(operand, {own, in[own.size()], in[own.size() + 1]}, cell);
}

Tensor SumGradients::compute(const Operands& in, const Axes& axes) const {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < in.size(); ++i) parts.push_back(in[i]);
    if (when_read) return {axes, std::make_shared<const SumWhenRead>(std::move(parts))};
    Tensor out(axes);
    add_up(parts, out.writable());
    return out;
}

Explanation SumGradients::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < in.size(); ++i) terms.push_back(term({cell_factor(in[i], i, cell)}));
    return {{line(tr("sum"), std::move(terms))}};
}

Tensor TargetCell::compute(const Operands&, const Axes& axes) const {
    Tensor out(axes);
    const std::span<float> to = out.writable();
    std::ranges::fill(to, 0.0F);
    to[static_cast<std::size_t>(out.offset(cell))] = 1.0F;
    return out;
}

Explanation TargetCell::explain(const Operands&, const Tensor&, const Cell& at) const {
    return {{line("g", {term({constant_factor(at == cell ? 1.0 : 0.0,
                                              at == cell ? tr("the target itself") : tr("not the target"))})})}};
}

Tensor NoGradient::compute(const Operands&, const Axes& axes) const { return {axes, std::make_shared<const Zeros>()}; }

Explanation NoGradient::explain(const Operands&, const Tensor&, const Cell&) const {
    return {{line("g", {term({constant_factor(0.0, tr("the target doesn't depend on it"))})})}};
}

OpDescription PullBackEdits::about() const {
    return {tr("gradient through the edits"), "g = g · (set ? 0 : factor)",
            tr("An edited cell is not what the model computed. A cell that was set no longer depends on anything, so "
               "no gradient passes back; a scaled cell passes its gradient back with the same factor.")};
}

double PullBackEdits::factor_of(const Cell& cell) const {
    double factor = 1.0;
    for (const Patch& patch : patches)
        if (patch.touches(cell))
            factor = patch.kind == Patch::Kind::set ? 0.0 : factor * static_cast<double>(patch.value);
    return factor;
}

Tensor PullBackEdits::compute(const Operands& in, const Axes& axes) const {
    Tensor out = in[0].with_axes(axes);
    for (auto next = patches.rbegin(); next != patches.rend(); ++next) {
        Patch patch = *next;
        if (patch.kind == Patch::Kind::set) patch.value = 0.0F;
        patch.apply(out);
    }
    return out;
}

Explanation PullBackEdits::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    const double factor = factor_of(cell);
    return {{line("g", {term({cell_factor(in[0], 0, cell), constant_factor(factor, tr("edit"))})})}};
}

}  // namespace decoderscope::backward
