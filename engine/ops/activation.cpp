#include "engine/ops/activation.h"

#include "engine/base/parallel.h"
#include "engine/base/translate.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <numbers>

namespace decoderscope {

namespace {

std::string_view name_of(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::relu:
            return "relu";
        case ActivationKind::gelu:
            return "gelu";
        case ActivationKind::gelu_tanh:
            return "gelu_tanh";
        case ActivationKind::silu:
            return "silu";
    }
    return "";
}

std::string_view formula_of(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::relu:
            return "post = max(0, pre)";
        case ActivationKind::gelu:
            return "post = pre · ½ (1 + erf(pre / √2))";
        case ActivationKind::gelu_tanh:
            return "post = pre · ½ (1 + tanh(√(2/π) · (pre + 0.044715 pre³)))";
        case ActivationKind::silu:
            return "post = pre / (1 + exp(−pre))";
    }
    return "";
}

constexpr Index kActivationCost = 20;  // of one number, in multiply-adds

template <class Number>
std::span<Number> part(std::span<Number> values, Index begin, Index end) {
    return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

void activate(ActivationKind kind, row::In x, row::Out y) {
    switch (kind) {
        case ActivationKind::relu:
            return row::relu(x, y);
        case ActivationKind::gelu:
            return row::gelu(x, y);
        case ActivationKind::gelu_tanh:
            return row::gelu_tanh(x, y);
        case ActivationKind::silu:
            return row::silu(x, y);
    }
}

// The activation of an operand's cell, as a factor.
Factor activated(ActivationKind kind, const Tensor& tensor, std::size_t operand, const Cell& cell) {
    const auto x = static_cast<double>(tensor.at(cell));
    return derived_factor(activate(kind, x), std::string(name_of(kind)) + "(" + short_number(x) + ")", operand, cell);
}

}  // namespace

double activate(ActivationKind kind, double x) {
    switch (kind) {
        case ActivationKind::relu:
            return x > 0.0 || std::isnan(x) ? x : 0.0;
        case ActivationKind::gelu:
            return 0.5 * x * (1.0 + std::erf(x * std::numbers::sqrt2 / 2.0));
        case ActivationKind::gelu_tanh: {
            const double slope = std::sqrt(2.0 * std::numbers::inv_pi);
            return 0.5 * x * (1.0 + std::tanh(slope * (x + 0.044715 * x * x * x)));
        }
        case ActivationKind::silu:
            return x / (1.0 + std::exp(-x));
    }
    return x;
}

About Activate::about() const {
    return {name_of(kind), formula_of(kind),
            tr("The one bend in the MLP: without it up_proj and down_proj would be a single matrix. Each column is a "
               "detector that stays (nearly) silent until its input is positive; what fires is written back by "
               "down_proj.")};
}

Tensor Activate::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::In from = in[0].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost,
                [&](Index begin, Index end) { activate(kind, part(from, begin, end), part(to, begin, end)); });
    return out;
}

Explanation Activate::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line("post", {term({activated(kind, in[0], 0, cell)})})}};
}

About ActivateGated::about() const {
    return {
        tr("gate"), "post = act(gate) · pre",
        tr("A second projection decides how much of each column passes. With silu this is SwiGLU, which Llama uses.")};
}

Tensor ActivateGated::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::In pre = in[0].values(), gate = in[1].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost, [&](Index begin, Index end) {
        const row::Out some = part(to, begin, end);
        activate(kind, part(gate, begin, end), some);
        row::multiply(some, part(pre, begin, end), some);
    });
    return out;
}

Explanation ActivateGated::explain(const Operands& in, const Tensor&, const Cell& cell) const {
    return {{line("post", {term({activated(kind, in[1], 1, cell), cell_factor(in[0], 0, cell)})})}};
}

}  // namespace decoderscope
