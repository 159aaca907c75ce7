#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/ops/activation.h"
#include "engine/ops/append.h"
#include "engine/ops/elementwise.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

// The gradients of operations that work cell by cell.
namespace decoderscope {

namespace {

constexpr Index kStraightCost = 8;  // of one number, in multiply-adds
constexpr Index kCurvedCost = 50;   // with an exponential

// grad · slope, cell by cell.
template <class Slope>
Tensor scaled(const Tensor& grad, const Slope& slope, Index cost = kStraightCost) {
    Tensor out(grad.axes());
    const float* from = grad.data();
    float* to = out.writable().data();
    in_parallel(out.size(), cost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            to[i] = static_cast<float>(static_cast<double>(from[i]) * slope(static_cast<std::size_t>(i)));
    });
    return out;
}

// The gradient where pre is positive, else 0, whatever the gradient is.
void relu_back(row::In pre, row::In grad, row::Out to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = pre[i] <= 0.0F ? 0.0F : grad[i];
}

using ActivationBack = void (*)(row::In, row::In, row::Out);

ActivationBack back_through(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::relu:
            return relu_back;
        case ActivationKind::gelu:
            return row::gelu_back;
        case ActivationKind::gelu_tanh:
            return row::gelu_tanh_back;
        case ActivationKind::silu:
            return row::silu_back;
    }
    return nullptr;
}

std::string slope_name(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::relu:
            return "relu′";
        case ActivationKind::gelu:
            return "gelu′";
        case ActivationKind::gelu_tanh:
            return "gelu_tanh′";
        case ActivationKind::silu:
            return "silu′";
    }
    return "";
}

Factor slope_at(ActivationKind kind, const Tensor& x, std::size_t operand, const Cell& cell) {
    const auto value = static_cast<double>(x.at(cell));
    return derived_factor(slope_of(kind, value), slope_name(kind) + "(" + short_number(value) + ")", operand, cell);
}

}  // namespace

double slope_of(ActivationKind kind, double x) {
    switch (kind) {
        case ActivationKind::relu:
            return x > 0.0 ? 1.0 : 0.0;
        case ActivationKind::gelu: {
            const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
            return 0.5 * (1.0 + std::erf(x * std::numbers::sqrt2 / 2.0)) + x * density;
        }
        case ActivationKind::gelu_tanh: {
            const double slope = std::sqrt(2.0 * std::numbers::inv_pi);
            const double t = std::tanh(slope * (x + 0.044715 * x * x * x));
            return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope * (1.0 + 3.0 * 0.044715 * x * x);
        }
        case ActivationKind::silu: {
            const double s = 1.0 / (1.0 + std::exp(-x));
            return s * (1.0 + x * (1.0 - s));
        }
    }
    return 1.0;
}

// ---- y = residual_scale · x + update + …

About Add::about_pull_back(std::size_t operand) const {
    if (operand == 0 && residual_scale != 1.0)
        return {tr("gradient by the stream"), "∂/∂x = residual_scale · g",
                tr("The stream hands its gradient on, times the weight that it has in the sum.")};
    return {tr("gradient through the sum"), "∂/∂x = g",
            tr("A sum hands its gradient to every summand as it is. This is the residual stream's gift to training: on "
               "the way back nothing has to pass through a sublayer to reach the first block.")};
}

Tensor Add::pull_back(std::size_t operand, const Backward& b) const {
    if (operand == 0 && residual_scale != 1.0) return scaled(b.grad, [&](std::size_t) { return residual_scale; });
    const Tensor& x = b.in[operand];
    if (x.size() == b.grad.size()) return b.grad.with_axes(x.axes());
    // Broadcast along leading axes: what it did in each of them adds up.
    Tensor out(x.axes());
    const std::span<float> to = out.writable();
    for (std::size_t i = 0; i < to.size(); ++i) {
        double sum = 0.0;
        for (std::size_t at = i; at < static_cast<std::size_t>(b.grad.size()); at += to.size())
            sum += static_cast<double>(b.grad.data()[at]);
        to[i] = static_cast<float>(sum);
    }
    return out;
}

Explanation Add::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    std::vector<Term> terms;
    const Index period = b.in[operand].size();
    for (Index at = b.in[operand].offset(cell); at < b.grad.size(); at += period) {
        std::vector<Factor> factors = {b.grad_at(b.grad.cell(at))};
        if (operand == 0 && residual_scale != 1.0) factors.push_back(constant_factor(residual_scale, "residual_scale"));
        terms.push_back(term(std::move(factors)));
    }
    return {{line("g", std::move(terms))}};
}

// ---- y = x

About Carry::about_pull_back(std::size_t) const {
    return {tr("carry"), "∂/∂x = g", tr("Nothing is computed: the gradient is passed on under the next name.")};
}

Tensor Carry::pull_back(std::size_t, const Backward& b) const { return b.grad; }

Explanation Carry::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return {{line("g", {term({b.grad_at(cell)})})}};
}

// ---- y = factor · x

About Rescale::about_pull_back(std::size_t) const {
    return {tr("gradient before the factor"), "∂/∂x = factor · g",
            tr("What is multiplied on the way there is multiplied on the way back.")};
}

Tensor Rescale::pull_back(std::size_t, const Backward& b) const {
    return scaled(b.grad, [&](std::size_t) { return factor; });
}

Explanation Rescale::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return {{line("g", {term({b.grad_at(cell), constant_factor(factor, std::string(key))})})}};
}

// ---- y = x · mask

About Drop::about_pull_back(std::size_t) const {
    return {tr("gradient before dropout"), "∂/∂x = g · mask",
            tr("What was dropped learns nothing in this pass; what stayed gets its gradient scaled up, as it was.")};
}

Tensor Drop::pull_back(std::size_t, const Backward& b) const {
    return scaled(b.grad, [mask = b.in[1].data()](std::size_t i) { return static_cast<double>(mask[i]); });
}

Explanation Drop::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return {{line("g", {term({b.grad_at(cell), b.in_at(1, cell)})})}};
}

// ---- post = act(pre)

About Activate::about_pull_back(std::size_t) const {
    return {tr("gradient before the activation"), "∂/∂pre = g · act′(pre)",
            tr("A detector that is silent passes nothing back (relu) or nearly nothing: it can't learn from this "
               "position.")};
}

Tensor Activate::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.grad.axes());
    const std::span<float> to = out.writable();
    const row::In pre = b.in[0].values(), grad = b.grad.values();
    in_parallel(out.size(), kStraightCost, [&, back = back_through(kind)](Index begin, Index end) {
        const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
        back(pre.subspan(first, count), grad.subspan(first, count), to.subspan(first, count));
    });
    return out;
}

Explanation Activate::explain_pull_back(std::size_t, const Backward& b, const Cell& cell) const {
    return {{line("g", {term({b.grad_at(cell), slope_at(kind, b.in[0], 0, cell)})})}};
}

// ---- post = act(gate) · pre

About ActivateGated::about_pull_back(std::size_t operand) const {
    if (operand == 0)
        return {tr("gradient by what is gated"), "∂/∂pre = g · act(gate)",
                tr("What the gate lets through, it lets back.")};
    return {tr("gradient by the gate"), "∂/∂gate = g · pre · act′(gate)",
            tr("Opening the gate a little lets a little more of the other projection through.")};
}

Tensor ActivateGated::pull_back(std::size_t operand, const Backward& b) const {
    const float* pre = b.in[0].data();
    const float* gate = b.in[1].data();
    const auto slope = [&](std::size_t i) {
        const auto at = static_cast<double>(gate[i]);
        return operand == 0 ? activate(kind, at) : static_cast<double>(pre[i]) * slope_of(kind, at);
    };
    return scaled(b.grad, slope, kCurvedCost);
}

Explanation ActivateGated::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    if (operand == 1)
        return {{line("g", {term({b.grad_at(cell), b.in_at(0, cell), slope_at(kind, b.in[1], 1, cell)})})}};
    const auto gate = static_cast<double>(b.in[1].at(cell));
    return {{line("g", {term({b.grad_at(cell),
                              derived_factor(activate(kind, gate), "act(" + short_number(gate) + ")", 1, cell)})})}};
}

// ---- y = kept rows, then new ones

About Append::about_pull_back(std::size_t) const {
    return {tr("gradient by a part"), "∂/∂part[b, h, p, d] = g[b, h, first + p, d]",
            tr("Each row hands back what arrived at its place.")};
}

Tensor Append::pull_back(std::size_t operand, const Backward& b) const {
    const Index past = b.in[0].dim(2) * b.in[0].dim(3), size = b.in[operand].dim(2) * b.in[operand].dim(3);
    const Index plane = b.grad.dim(2) * b.grad.dim(3), first = operand == 0 ? 0 : past;
    Tensor out(b.in[operand].axes());
    float* to = out.writable().data();
    for (Index head = 0; head < b.grad.dim(0) * b.grad.dim(1); ++head)
        to = std::copy_n(b.grad.data() + head * plane + first, size, to);
    return out;
}

Explanation Append::explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
    Cell at = cell;
    if (operand == 1) at[2] += b.in[0].dim(2);
    return {{line("g", {term({b.grad_at(at)})})}};
}

}  // namespace decoderscope
