// What single operations cost, beside the same work by our own kernel or in the C++ library, at GPT-2-small's sizes:
//     cmake --preset release -DDECODERSCOPE_BENCHMARKS=ON && cmake --build --preset release --target bench_operations
//     build/release/tests/bench/bench_operations
#include "engine/base/random.h"
#include "engine/ops/activation.h"
#include "engine/ops/linear.h"
#include "engine/ops/masks.h"
#include "engine/ops/norm.h"
#include "engine/ops/scaled_dot_product.h"
#include "engine/ops/softmax.h"
#include "engine/products/linalg.h"
#include "engine/products/plain.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

using namespace decoderscope;
using namespace decoderscope::ops;
using namespace decoderscope::products;

namespace {

constexpr Index kDModel = 768, kDFf = 3072, kHeads = 12, kDHead = 64;

Tensor random_tensor(Axes axes, std::string_view name) {
    const RandomStream random(1, name);
    Tensor tensor(std::move(axes));
    const std::span<float> values = tensor.writable();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.normal(i));
    return tensor;
}

Tensor stream(Index rows) {
    return random_tensor({{axis::batch, 1}, {axis::pos, rows}, {axis::d_model, kDModel}}, "x");
}

Operands operands(std::initializer_list<const Tensor*> tensors) {
    Operands in;
    for (const Tensor* tensor : tensors) in.add(*tensor);
    return in;
}

void tokens(benchmark::internal::Benchmark* b) {
    b->Arg(1)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMicrosecond)->UseRealTime();
}

// up_proj: [pos, d_model] · [d_ff, d_model]ᵀ.
void linear(benchmark::State& state) {
    const Tensor x = stream(state.range(0)), weight = random_tensor({{axis::out, kDFf}, {axis::in, kDModel}}, "w");
    const Linear op{axis::d_ff};
    const Operands in = operands({&x, &weight});
    const Axes axes = op.axes({x.axes(), weight.axes()});
    for (auto _ : state) benchmark::DoNotOptimize(op.compute(in, axes));
    state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(state.range(0) * kDModel * kDFf) / 1e9,
                                                  benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(linear)->Apply(tokens);

void linear_by_own_kernel(benchmark::State& state) {
    const Tensor x = stream(state.range(0)), weight = random_tensor({{axis::out, kDFf}, {axis::in, kDModel}}, "w");
    Tensor out({{axis::pos, state.range(0)}, {axis::d_ff, kDFf}});
    for (auto _ : state)
        plain_products::multiply_transposed({x.data(), state.range(0), kDModel, kDModel},
                                            {weight.data(), kDFf, kDModel, kDModel},
                                            {out.writable().data(), state.range(0), kDFf, kDFf}, 1.0F);
}
BENCHMARK(linear_by_own_kernel)->Apply(tokens);

// q · kᵀ of all heads.
void attention_scores(benchmark::State& state) {
    const Axes heads = {{axis::batch, 1}, {axis::head, kHeads}, {axis::pos, state.range(0)}, {axis::d_head, kDHead}};
    const Tensor q = random_tensor(heads, "q"), k = random_tensor(heads, "k");
    const ScaledDotProduct op;
    const Operands in = operands({&q, &k});
    for (auto _ : state) benchmark::DoNotOptimize(op.compute(in, op.axes({q.axes(), k.axes()})));
}
BENCHMARK(attention_scores)->Apply(tokens);

// Causal mask, fill and softmax of all heads.
void masked_softmax(benchmark::State& state) {
    const Index n = state.range(0);
    const Tensor scores =
        random_tensor({{axis::batch, 1}, {axis::head, kHeads}, {axis::query, n}, {axis::key, n}}, "scores");
    const CombineMasks masks{1, kHeads, n, n};
    const FillMasked fill{-std::numeric_limits<float>::infinity()};
    const Softmax softmax;
    for (auto _ : state) {
        const Tensor mask = masks.compute({}, scores.axes());
        const Tensor masked = fill.compute(operands({&scores, &mask}), scores.axes());
        benchmark::DoNotOptimize(softmax.compute(operands({&masked}), scores.axes()));
    }
}
BENCHMARK(masked_softmax)->Apply(tokens);

void softmax_by_the_library(benchmark::State& state) {
    const Index n = state.range(0);
    const Tensor scores =
        random_tensor({{axis::batch, 1}, {axis::head, kHeads}, {axis::query, n}, {axis::key, n}}, "scores");
    for (auto _ : state) {
        Tensor out(scores.axes());
        float* y = out.writable().data();
        const float* x = scores.data();
        for (Index row = 0; row < kHeads * n; ++row, x += n, y += n) {
            const Index seen = row % n + 1;
            const float top = *std::max_element(x, x + seen);
            float sum = 0.0F;
            for (Index k = 0; k < seen; ++k) sum += y[k] = std::exp(x[k] - top);
            for (Index k = 0; k < seen; ++k) y[k] /= sum;
            std::fill(y + seen, y + n, 0.0F);
        }
        benchmark::DoNotOptimize(out);
    }
}
BENCHMARK(softmax_by_the_library)->Apply(tokens);

void layer_norm(benchmark::State& state) {
    const Tensor x = stream(state.range(0)), gain = random_tensor({{axis::d_model, kDModel}}, "gain");
    const NormScale scale{NormKind::layernorm, 1e-5};
    const Normalize normalize{NormKind::layernorm};
    for (auto _ : state) {
        const Tensor scales = scale.compute(operands({&x}), scale.axes({x.axes()}));
        benchmark::DoNotOptimize(normalize.compute(operands({&x, &scales, &gain, &gain}), x.axes()));
    }
}
BENCHMARK(layer_norm)->Apply(tokens);

void activation(benchmark::State& state, ActivationKind kind) {
    const Tensor x = random_tensor({{axis::batch, 1}, {axis::pos, state.range(0)}, {axis::d_ff, kDFf}}, "pre");
    const Activate op{kind};
    for (auto _ : state) benchmark::DoNotOptimize(op.compute(operands({&x}), x.axes()));
}
BENCHMARK_CAPTURE(activation, gelu_tanh, ActivationKind::gelu_tanh)->Apply(tokens);
BENCHMARK_CAPTURE(activation, gelu, ActivationKind::gelu)->Apply(tokens);
BENCHMARK_CAPTURE(activation, silu, ActivationKind::silu)->Apply(tokens);

}  // namespace

BENCHMARK_MAIN();
