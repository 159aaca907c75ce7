#include "engine/ops/activation.h"

#include "engine/ops/elementwise.h"

#include "engine/base/parallel.h"
#include "engine/tensor/row_math.h"

#include <cmath>
#include <numbers>
#include <span>
#include <string>

namespace decoderscope::ops {

namespace {

// An activation as a function of one number.
struct Function {
    std::string_view name, formula;
    double (*of)(double);
    double (*slope)(double);
    void (*of_row)(row::In, row::Out);
    void (*back)(row::In, row::In, row::Out);  // {pre, gradient} -> the gradient with respect to pre
};

double relu(double x) { return x > 0.0 || std::isnan(x) ? x : 0.0; }
double relu_slope(double x) { return x <= 0.0 ? 0.0 : 1.0; }  // NaN passes, as in PyTorch

double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x * std::numbers::sqrt2 / 2.0)); }
double gelu_slope(double x) {
    const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return 0.5 * (1.0 + std::erf(x * std::numbers::sqrt2 / 2.0)) + x * density;
}

double gelu_tanh(double x) {
    const double slope = std::sqrt(2.0 * std::numbers::inv_pi);
    return 0.5 * x * (1.0 + std::tanh(slope * (x + 0.044715 * x * x * x)));
}
double gelu_tanh_slope(double x) {
    const double slope = std::sqrt(2.0 * std::numbers::inv_pi);
    const double t = std::tanh(slope * (x + 0.044715 * x * x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope * (1.0 + 3.0 * 0.044715 * x * x);
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }
double silu_slope(double x) {
    const double s = 1.0 / (1.0 + std::exp(-x));
    return s * (1.0 + x * (1.0 - s));
}

double relu2(double x) { return x > 0.0 || std::isnan(x) ? x * x : 0.0; }
double relu2_slope(double x) { return x <= 0.0 ? 0.0 : 2.0 * x; }

constexpr Function kSilu = {"silu", "post = pre / (1 + exp(−pre))", silu, silu_slope, row::silu, row::silu_back};

Function function_of(ActivationKind kind) {
    switch (kind) {
        case ActivationKind::relu:
            return {"relu", "post = max(0, pre)", relu, relu_slope, row::relu, row::relu_back};
        case ActivationKind::gelu:
            return {"gelu", "post = pre · ½ (1 + erf(pre / √2))", gelu, gelu_slope, row::gelu, row::gelu_back};
        case ActivationKind::gelu_tanh:
            return {"gelu_tanh",    "post = pre · ½ (1 + tanh(√(2/π) · (pre + 0.044715 pre³)))",
                    gelu_tanh,      gelu_tanh_slope,
                    row::gelu_tanh, row::gelu_tanh_back};
        case ActivationKind::relu2:
            return {"relu2", "post = max(0, pre)²", relu2, relu2_slope, row::relu2, row::relu2_back};
        case ActivationKind::silu:
        case ActivationKind::swiglu_clamped:  // a function of two numbers, ClampedSwiglu; of one it is SiLU
            break;
    }
    return kSilu;
}

constexpr Index kActivationCost = 20;  // of one number, in multiply-adds

template <class Number>
std::span<Number> part(std::span<Number> values, Index begin, Index end) {
    return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

}  // namespace

double activate(ActivationKind kind, double x) { return function_of(kind).of(x); }

std::string_view activation_name(ActivationKind kind) { return function_of(kind).name; }

double slope_of(ActivationKind kind, double x) { return function_of(kind).slope(x); }

Tensor Activate::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::In from = in[0].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost, [&, row = function_of(kind).of_row](Index begin, Index end) {
        row(part(from, begin, end), part(to, begin, end));
    });
    return out;
}

Tensor Activate::pull_back(std::size_t, const Backward& b) const {
    Tensor out(b.grad.axes());
    const std::span<float> to = out.writable();
    const row::In pre = b.in[0].values(), grad = b.grad.values();
    in_parallel(out.size(), kStraightCost, [&, back = function_of(kind).back](Index begin, Index end) {
        const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
        back(pre.subspan(first, count), grad.subspan(first, count), to.subspan(first, count));
    });
    return out;
}

Tensor ActivateGated::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::In pre = in[0].values(), gate = in[1].values();
    const row::Out to = out.writable();
    in_parallel(out.size(), kActivationCost, [&, row = function_of(kind).of_row](Index begin, Index end) {
        const row::Out some = part(to, begin, end);
        row(part(gate, begin, end), some);
        row::multiply(some, part(pre, begin, end), some);
    });
    return out;
}

Tensor ActivateGated::pull_back(std::size_t operand, const Backward& b) const {
    const float* pre = b.in[0].data();
    const float* gate = b.in[1].data();
    const auto slope = [&, act = function_of(kind)](std::size_t i) {
        const auto at = static_cast<double>(gate[i]);
        return operand == 0 ? act.of(at) : static_cast<double>(pre[i]) * act.slope(at);
    };
    return scaled(b.grad, slope, kCurvedCost);
}

// ---- gpt-oss' gate

double ClampedSwiglu::activated(double gate) const {
    const double g = gate > limit ? limit : gate;
    return g / (1.0 + std::exp(-alpha * g));
}

// A gradient passes where a number is within the limit or at it.
double ClampedSwiglu::slope(double gate) const {
    if (gate > limit) return 0.0;
    const double sigmoid = 1.0 / (1.0 + std::exp(-alpha * gate));
    return sigmoid * (1.0 + alpha * gate * (1.0 - sigmoid));
}

double ClampedSwiglu::raised(double pre) const { return (pre > limit ? limit : pre < -limit ? -limit : pre) + 1.0; }

Tensor ClampedSwiglu::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const float* pre = in[0].data();
    const float* gate = in[1].data();
    float* to = out.writable().data();
    in_parallel(out.size(), kCurvedCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            to[i] = static_cast<float>(activated(static_cast<double>(gate[i])) * raised(static_cast<double>(pre[i])));
    });
    return out;
}

Tensor ClampedSwiglu::pull_back(std::size_t operand, const Backward& b) const {
    const float* pre = b.in[0].data();
    const float* gate = b.in[1].data();
    const auto by = [&](std::size_t i) {
        const auto u = static_cast<double>(pre[i]), g = static_cast<double>(gate[i]);
        if (operand == 1) return raised(u) * slope(g);
        return u > limit || u < -limit ? 0.0 : activated(g);
    };
    return scaled(b.grad, by, kCurvedCost);
}

}  // namespace decoderscope::ops
