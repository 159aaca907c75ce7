// What a formula costs beside the kernel that computes the same numbers, forwards and backwards, at a small and at
// GPT-2-small's sizes. The two take turns; a row shows the medians and their ratio:
//     cmake --preset release -DDECODERSCOPE_BENCHMARKS=ON && cmake --build --preset release --target bench_formulas
//     build/release/tests/bench/bench_formulas
#include "engine/base/random.h"
#include "engine/graph/operation.h"
#include "engine/ops/activation.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/head_outputs.h"
#include "engine/ops/linear.h"
#include "engine/ops/masks.h"
#include "engine/ops/norm.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/ops/sink.h"
#include "engine/ops/softmax.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::ops;

namespace {

Tensor random_tensor(const Axes& axes, std::string_view name, float from = -std::numeric_limits<float>::infinity()) {
    const RandomStream random(1, name);
    Tensor tensor(axes);
    const std::span<float> values = tensor.writable();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(from, static_cast<float>(random.normal(i)));
    return tensor;
}

double microseconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> of) {
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
    return of[of.size() / 2];
}

// The two in turn, for about half a second.
void compare(const std::string& name, const std::function<void()>& kernel, const std::function<void()>& formula) {
    kernel();
    formula();
    std::vector<double> by_kernel, by_formula;
    for (double spent = 0.0; by_kernel.size() < 7 || (spent < 5e5 && by_kernel.size() < 300);) {
        by_kernel.push_back(microseconds(kernel));
        by_formula.push_back(microseconds(formula));
        spent += by_kernel.back() + by_formula.back();
    }
    const double ours = median(by_kernel), theirs = median(by_formula);
    std::printf("%-44s %10.1f %10.1f %8.2f\n", name.c_str(), ours, theirs, theirs / ours);
    std::fflush(stdout);
}

// An operation, and its gradient with respect to each operand that gets one.
template <class Op>
void row(const std::string& name, const Op& op, const std::vector<Tensor>& operands) {
    Operands in;
    OperandAxes read;
    for (const Tensor& tensor : operands) {
        in.add(tensor);
        read.push_back(tensor.axes());
    }
    const Operation operation(op);
    const Axes axes = operation.axes(read);
    if constexpr (requires { op.compute(in, axes); })
        compare(
            name, [&] { static_cast<void>(op.compute(in, axes).data()); },
            [&] { static_cast<void>(op.formula().compute(in, axes).data()); });
    if constexpr (requires(const Backward& b) { op.pull_back(0, b); }) {
        const Tensor out = operation.compute(in, axes), grad = random_tensor(axes, "g");
        const Backward b{in, out, grad};
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (operation.passes_gradient(i))
                compare(
                    "  gradient w.r.t. " + std::string(op.formula().name_of(i)),
                    [&] { static_cast<void>(op.pull_back(i, b).data()); },
                    [&] { static_cast<void>(op.formula().pull_back(i, b).data()); });
    }
}

void all(Index positions, Index d_model, Index d_ff, Index heads) {
    const Index d_head = d_model / heads;
    const Axes stream = {{axis::batch, 1}, {axis::pos, positions}, {axis::d_model, d_model}};
    const Axes hidden = {{axis::batch, 1}, {axis::pos, positions}, {axis::d_ff, d_ff}};
    const Axes by_head = {{axis::batch, 1}, {axis::head, heads}, {axis::pos, positions}, {axis::d_head, d_head}};
    const Axes square = {{axis::batch, 1}, {axis::head, heads}, {axis::query, positions}, {axis::key, positions}};
    const Axes width = {{axis::d_model, d_model}};
    const Tensor x = random_tensor(stream, "x"), pre = random_tensor(hidden, "pre"),
                 gate = random_tensor(hidden, "gate");
    const Tensor q = random_tensor(by_head, "q"), k = random_tensor(by_head, "k"), scores = random_tensor(square, "s");
    const Tensor gain = random_tensor(width, "gain"), shift = random_tensor(width, "shift");
    const Tensor scale = random_tensor({{axis::batch, 1}, {axis::pos, positions}, {axis::one, 1}}, "scale", 0.5F);
    std::printf("\n%lld positions, d_model %lld, d_ff %lld, %lld heads: µs by the kernel, by the formula, ratio\n",
                static_cast<long long>(positions), static_cast<long long>(d_model), static_cast<long long>(d_ff),
                static_cast<long long>(heads));
    row("gelu", Activate{ActivationKind::gelu}, {pre});
    row("gelu_tanh", Activate{ActivationKind::gelu_tanh}, {pre});
    row("silu", Activate{ActivationKind::silu}, {pre});
    row("relu", Activate{ActivationKind::relu}, {pre});
    row("silu(gate) · pre", ActivateGated{ActivationKind::silu}, {pre, gate});
    row("swiglu_clamped", ClampedSwiglu{}, {pre, gate});
    row("soft cap", SoftCap{30.0}, {scores});
    row("rescale", Rescale{0.5, "logit_scale"}, {x});
    row("sigmoid", Sigmoid{}, {x});
    row("scale_rows", ScaleRows{}, {x, scale});
    row("dropout", Drop{}, {x, x});
    row("softmax", Softmax{}, {scores});
    row("softmax with a sink", SoftmaxWithSink{}, {scores, random_tensor({{axis::head, heads}}, "sink")});
    row("fill", FillMasked{-std::numeric_limits<float>::infinity()}, {scores, random_tensor(square, "mask", 0.0F)});
    row("layernorm's scale", NormScale{NormKind::layernorm, 1e-5}, {x});
    row("layernorm", Normalize{NormKind::layernorm}, {x, scale, gain, shift});
    row("rmsnorm's scale", NormScale{NormKind::rmsnorm, 1e-5}, {x});
    row("rmsnorm", Normalize{NormKind::rmsnorm}, {x, scale, gain});
    row("q · kᵀ / √d_head", ScaledDotProduct{}, {q, k});
    row("pattern · v", WeightedSum{}, {scores, k});
    row("linear", Linear{axis::d_ff},
        {x, random_tensor({{axis::out, d_ff}, {axis::in, d_model}}, "W"), random_tensor({{axis::out, d_ff}}, "bias")});
}

}  // namespace

int main() {
    all(16, 32, 128, 4);
    all(128, 768, 3072, 12);
}
