#include "engine/ops/elementwise.h"

#include "engine/base/random.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::ops {

OpDescription Given::about() const {
    return {tr("given"), "y = the recorded values",  // not a message: a formula
            tr("Not computed here: these are the numbers that another program recorded, so that what follows runs on "
               "its input.")};
}

Explanation Given::explain(const Operands&, const Tensor&, const Cell& cell) const {
    return {{line(tr("given"), {term({constant_factor(static_cast<double>(values.at(cell)), tr("recorded"))})})}};
}

OpDescription Recorded::about() const {
    return {what.empty() ? std::string_view(tr("recorded elsewhere")) : std::string_view(what),
            tr("recorded elsewhere: no weights to explain it"),
            tr("Another program computed this, and only its result was recorded. The arrows lead to what it was "
               "computed from, as far as that was recorded, too; without the weights the computation can't be "
               "repeated. If the recording contains the parameters, it can be opened as a model.")};
}

Explanation Recorded::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    std::array<float, 1> value = {};
    out.copy(out.offset(cell), value);
    return {{line(tr("recorded elsewhere"), {term({constant_factor(static_cast<double>(value[0]), "")})})}};
}

namespace {

// to = x + scale · update, `size` numbers; a shorter update is repeated: positions are added to every row of the batch.
void add_to(const float* x, const Tensor& update, float scale, Index size, float* to) {
    const Index period = update.size();
    const float* added = update.data();
    for (Index start = 0; start < size; start += period) {
        in_parallel(period, kCopyCost, [&](Index begin, Index end) {
            const auto count = static_cast<std::size_t>(end - begin);
            if (scale == 1.0F)
                return row::add({x + start + begin, count}, {added + begin, count}, {to + start + begin, count});
            for (Index i = begin; i < end; ++i) to[start + i] = x[start + i] + scale * added[i];
        });
    }
}

}  // namespace

OpDescription Add::about() const {
    if (residual_scale != 1.0)
        return {tr("add to the scaled stream"),
                update_scale != 1.0 ? "y[b, p, d] = residual_scale · x[b, p, d] + update_scale · update[b, p, d]"
                                    : "y[b, p, d] = residual_scale · x[b, p, d] + update[b, p, d]",
                tr("The residual connection with a weight on the residual stream. DeepNorm chooses it above 1, the "
                   "larger the deeper the stack, so that no single update can move the stream far, and Post-Norm can "
                   "be trained at a depth of a thousand layers.")};
    if (update_scale != 1.0)
        return {
            tr("add a scaled update"), "y[b, p, d] = x[b, p, d] + update_scale · update[b, p, d]",
            tr("The residual connection with a weight on what is added. Below 1 it keeps a deep stream from growing "
               "too fast; Granite has one factor for all of its sublayers.")};
    return {tr("add"), "y[b, p, d] = x[b, p, d] + update[b, p, d]",
            tr("The residual connection: a sublayer never replaces the residual stream, it adds to it. Follow one row "
               "through the depth and you see what each sublayer wrote there. Gradients flow back through the sum "
               "undiminished, which is why deep stacks can be trained at all.")};
}

Tensor Add::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    float* to = out.writable().data();
    const float* x = in[0].data();
    if (residual_scale != 1.0) {
        std::transform(x, x + out.size(), to,
                       [factor = static_cast<float>(residual_scale)](float v) { return factor * v; });
        x = to;
    }
    for (std::size_t i = 1; i < in.size(); ++i, x = to)
        add_to(x, in[i], static_cast<float>(update_scale), out.size(), to);
    return out;
}

Term Add::scaled_term(std::size_t operand, Factor factor) const {
    std::vector<Factor> factors = {std::move(factor)};
    if (scale_of(operand) != 1.0)
        factors.push_back(constant_factor(scale_of(operand), operand == 0 ? "residual_scale" : "update_scale"));
    return term(std::move(factors));
}

Explanation Add::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    std::vector<Term> terms;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Cell tail(cell.end() - static_cast<std::ptrdiff_t>(in[i].rank()), cell.end());
        terms.push_back(scaled_term(i, cell_factor(in[i], i, tail)));
    }
    return {{line(tr("sum"), std::move(terms))}};
}

OpDescription Add::about_pull_back(std::size_t operand) const {
    if (operand == 0 && residual_scale != 1.0)
        return {tr("gradient w.r.t. the stream"), "∂/∂x = residual_scale · g",
                tr("The residual stream gets the sum's gradient, times its weight in the sum.")};
    if (operand > 0 && update_scale != 1.0)
        return {tr("gradient w.r.t. the update"), "∂/∂update = update_scale · g",
                tr("The update gets the sum's gradient, times its weight in the sum.")};
    return {
        tr("gradient through the sum"), "∂/∂x = g",
        tr("A sum passes its gradient unchanged to every summand. This is what makes the residual stream trainable: in "
           "the backward pass, a gradient reaches the first block without passing through a sublayer.")};
}

Tensor Add::pull_back(std::size_t operand, const Backward& b) const {
    const double scale = scale_of(operand);
    const Tensor& x = b.in[operand];
    if (x.size() == b.grad.size() && scale != 1.0)
        return scaled(b.grad, [&](std::size_t) { return scale; }).with_axes(x.axes());
    if (x.size() == b.grad.size()) return b.grad.with_axes(x.axes());
    // Broadcast along leading axes: what it did in each of them adds up.
    Tensor out(x.axes());
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) {
        double sum = 0.0;
        for (std::size_t at = i; at < static_cast<std::size_t>(b.grad.size()); at += to.size())
            sum += static_cast<double>(b.grad.data()[at]);
        to[i] = static_cast<float>(scale * sum);
    }
    return out;
}

Explanation Add::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    const Index period = b.in[operand].size();
    for (Index at = b.in[operand].offset(cell); at < b.grad.size(); at += period)
        terms.push_back(scaled_term(operand, b.grad_at(b.grad.cell(at))));
    return {{line("g", std::move(terms))}};
}

ByFormula Identity::formula() const { return {"carried[…] = x[…]", {{"x", OperandRole::stream}}, {}, tr("carried")}; }

OpDescription Identity::about() const {
    return {tr("carry"), "y = x",
            tr("Nothing is computed: the residual stream goes on under its next name. What leaves one block is what "
               "enters the next.")};
}

Tensor Identity::compute(const Operands& in, const Axes& axes) const { return in[0].with_axes(axes); }

OpDescription Identity::about_pull_back(std::size_t) const {
    return {tr("carry"), "∂/∂x = g", tr("Nothing is computed: the gradient is passed on under the next name.")};
}

Tensor Identity::pull_back(std::size_t, const Backward& b) const { return b.grad; }

OpDescription Rescale::about() const {
    return {tr(message_c("operation", "scale")), "y = factor · x",
            tr("Every number times the same factor. On logits this is a temperature that the model was trained with: "
               "a factor below 1 makes the probabilities more even, one above 1 sharper; their order stays.")};
}

Tensor Rescale::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    float* y = out.writable().data();
    const auto by = static_cast<float>(factor);
    in_parallel(out.size(), kCopyCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) y[i] = by * x[i];
    });
    return out;
}

OpDescription Rescale::about_pull_back(std::size_t) const {
    return {tr("gradient through the factor"), "∂/∂x = factor · g",
            tr("What is multiplied in the forward pass is multiplied by the same factor in the backward pass.")};
}

Tensor Rescale::pull_back(std::size_t, const Backward& b) const {
    return scaled(b.grad, [&](std::size_t) { return factor; });
}

namespace {

constexpr Index kSoftCapCost = 20;  // of one number, in multiply-adds

}  // namespace

OpDescription SoftCap::about() const {
    return {tr("soft cap"), "y = cap · tanh(x / cap)",
            tr("Nothing comes out larger than the cap, and what is small stays nearly as it is. A runaway score would "
               "make the softmax one-hot and its gradient vanish; the cap limits it without a hard edge, so that a "
               "gradient still passes. Gemma 2 caps its scores at 50 and its logits at 30.")};
}

Tensor SoftCap::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    float* y = out.writable().data();
    const auto most = static_cast<float>(cap);
    in_parallel(out.size(), kSoftCapCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) y[i] = most * std::tanh(x[i] / most);
    });
    return out;
}

OpDescription SoftCap::about_pull_back(std::size_t) const {
    return {tr("gradient through the cap"), "∂/∂x = g · (1 − (y / cap)²)",
            tr("Near the cap the curve is flat, so little gradient comes through; that of small numbers passes almost "
               "unchanged.")};
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

OpDescription Sigmoid::about() const {
    return {
        tr("sigmoid"), "y = 1 / (1 + exp(−x))",
        tr("Each number by itself becomes one between 0 and 1. Unlike in a softmax, none grows at another's expense.")};
}

Tensor Sigmoid::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    std::ranges::transform(in[0].values(), out.writable().begin(),
                           [](float x) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(x)))); });
    return out;
}

OpDescription Sigmoid::about_pull_back(std::size_t) const {
    return {tr("gradient through the sigmoid"), "∂/∂x = g · y · (1 − y)",
            tr("Near 0 and near 1 the curve is flat, so hardly any gradient comes through.")};
}

Tensor Sigmoid::pull_back(std::size_t, const Backward& b) const {
    return scaled(b.grad, [y = b.out.data()](std::size_t i) {
        return static_cast<double>(y[i]) * (1.0 - static_cast<double>(y[i]));
    });
}

OpDescription ScaleRows::about() const {
    return {tr("scale each row"), "y[b, p, d] = weight[b, p] · x[b, p, d]",
            tr("A gate for the whole row: how much of it passes at this position.")};
}

Tensor ScaleRows::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const Index width = axes.back().size;
    float* to = out.writable().data();
    for (Index i = 0; i < out.size(); ++i) to[i] = in[1].data()[i / width] * in[0].data()[i];
    return out;
}

OpDescription ScaleRows::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient through the factor"), "∂/∂x[b, p, d] = weight[b, p] · g[b, p, d]",
                tr("What is multiplied in the forward pass is multiplied by the same factor in the backward pass.")};
    return {tr("gradient w.r.t. the gate"), "∂/∂weight[b, p] = Σ_d x[b, p, d] · g[b, p, d]",
            tr("Opening the gate a little lets a little more of the row through.")};
}

Tensor ScaleRows::pull_back(std::size_t operand, const Backward& b) const {
    const auto width = static_cast<std::size_t>(b.grad.axes().back().size);
    const float* weight = b.in[1].data();
    if (operand == 0) return scaled(b.grad, [&](std::size_t i) { return static_cast<double>(weight[i / width]); });
    Tensor out(b.in[1].axes());
    const std::span<float> to = out.writable();
    for (std::size_t row = 0; row < to.size(); ++row) {
        double sum = 0.0;
        for (std::size_t i = row * width; i < (row + 1) * width; ++i)
            sum += static_cast<double>(b.in[0].data()[i]) * static_cast<double>(b.grad.data()[i]);
        to[row] = static_cast<float>(sum);
    }
    return out;
}

OpDescription DropoutMask::about() const {
    return {tr("dropout mask"), "mask = random < p ? 0 : 1 / (1 − p)",
            tr("Training switches numbers off at random, so that no unit can rely on another. What stays is scaled up, "
               "which keeps the expected sum; when the model is used, nothing is dropped and nothing scaled. The seed "
               "is fixed: the same seed drops the same cells.")};
}

Tensor DropoutMask::compute(const Operands&, const Axes& axes) const {
    const RandomStream random(seed, name);
    const float kept = p < 1.0 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0F;
    Tensor out(axes);
    std::uint64_t i = 0;
    for (float& to : out.writable()) to = random.uniform(i++) < p ? 0.0F : kept;
    return out;
}

Explanation DropoutMask::explain(const Operands&, const Tensor& out, const Cell& cell) const {
    const double drawn = RandomStream(seed, name).uniform(static_cast<std::uint64_t>(out.offset(cell)));
    const std::string text = short_number(drawn) + (drawn < p ? " < " : " ≥ ") + short_number(p);
    const double value = drawn < p || p >= 1.0 ? 0.0 : 1.0 / (1.0 - p);
    return {{line("mask", {term({constant_factor(value, text)})})}};
}

OpDescription Drop::about() const {
    return {tr("dropout"), "dropped = x · mask",
            tr("A dropped cell is 0, the others are a little larger than they were. The model causal-lm drops scores "
               "before the softmax: a dropped score is 0, not hidden, and a hidden one that is dropped becomes 0 · "
               "(−∞) = NaN, which makes its whole row NaN.")};
}

Tensor Drop::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* x = in[0].data();
    const float* mask = in[1].data();
    for (float& to : out.writable()) to = *x++ * *mask++;
    return out;
}

OpDescription Drop::about_pull_back(std::size_t) const {
    return {tr("gradient through dropout"), "∂/∂x = g · mask",
            tr("What was dropped gets no gradient in this pass; what stayed gets its gradient scaled up, as it was "
               "itself.")};
}

Tensor Drop::pull_back(std::size_t, const Backward& b) const {
    return scaled(b.grad, [mask = b.in[1].data()](std::size_t i) { return static_cast<double>(mask[i]); });
}

}  // namespace decoderscope::ops
