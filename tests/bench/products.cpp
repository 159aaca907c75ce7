// Products of rows with weights, by us and by oneDNN alone on packed weights:
//     build/release/tests/bench/bench_products M,K,N,COUNT…
// For each shape x [m, k] is multiplied by `count` weights [n, k] in turn, as a pass meets them. Prints a line of JSON:
// [{"m": …, "k": …, "n": …, "count": …, "ours": …, "onednn": …}, …], medians in seconds for all `count` products. The
// two take turns. oneDNN has all threads of the machine, too, and no bias to add; its faster one of matmul and
// inner_product counts.
#include "engine/base/random.h"
#include "engine/products/linalg.h"
#include "engine/products/onednn_product.h"

#include <omp.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::products;
using namespace decoderscope::products::onednn_products;

namespace {

constexpr int kTries = 7;

struct Shape {
    Index m = 0, k = 0, n = 0, count = 1;
};

Tensor random_tensor(Index rows, Index columns, std::uint64_t seed) {
    const RandomStream random(seed, "bench");
    Tensor tensor({{axis::out, rows}, {axis::in, columns}});
    const std::span<float> values = tensor.writable();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.normal(i));
    return tensor;
}

// A weight that oneDNN packed as it likes best.
struct Packed {
    std::vector<float> room;
    memory values;
};

Packed pack(const Tensor& weight, const memory::desc& plain, const memory::desc& layout) {
    Packed packed{std::vector<float>(layout.get_size() / sizeof(float)), {}};
    packed.values = at(layout, packed.room.data());
    memory from = at(plain, weight.data());
    dnnl::stream stream(cpu());
    dnnl::reorder(from, packed.values).execute(stream, from, packed.values);
    stream.wait();
    return packed;
}

// All products of a shape, ready to be run.
using Work = std::function<void()>;

Work by_us(const Tensor& x, const std::vector<Tensor>& weights, Tensor& out, const Shape& s) {
    return [&, s] {
        for (const Tensor& weight : weights)
            multiply_weight({x.data(), s.m, s.k, s.k}, weight, nullptr, {out.writable().data(), s.m, s.n, s.n});
    };
}

// A product by oneDNN as `description` says, with the weights packed as it likes them best.
template <class Description>
Work by_onednn(const Description& description, const memory::desc& plain, const Tensor& x,
               const std::vector<Tensor>& weights, Tensor& out) {
    std::vector<Packed> packed;
    for (const Tensor& weight : weights) packed.push_back(pack(weight, plain, description.weights_desc()));
    return [&, product = Product(description, nullptr), packed = std::move(packed)]() mutable {
        for (const Packed& weight : packed) product.run(x.data(), weight.values, nullptr, out.writable().data());
    };
}

Work by_matmul(const Tensor& x, const std::vector<Tensor>& weights, Tensor& out, const Shape& s) {
    const MatmulDesc description =
        matmul_desc(rows_of(s.m, s.k, s.k), any_layout(s.k, s.n), nullptr, rows_of(s.m, s.n, s.n));
    return by_onednn(description, matrix(s.k, s.n, 1, s.k), x, weights, out);
}

Work by_inner_product(const Tensor& x, const std::vector<Tensor>& weights, Tensor& out, const Shape& s) {
    const InnerProductDesc description =
        inner_product_desc(rows_of(s.m, s.k, s.k), any_layout(s.n, s.k), nullptr, rows_of(s.m, s.n, s.n));
    return by_onednn(description, rows_of(s.n, s.k, s.k), x, weights, out);
}

double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
}

nlohmann::json measured(const Shape& s) {
    const Tensor x = random_tensor(s.m, s.k, 1);
    Tensor out({{axis::pos, s.m}, {axis::out, s.n}});
    std::vector<Tensor> weights;
    for (Index i = 0; i < s.count; ++i) weights.push_back(random_tensor(s.n, s.k, static_cast<std::uint64_t>(i) + 2));
    // Each by threads of its own: ours keep OpenMP's from being used.
    std::vector<double> ours, matmul, inner;
    const auto alone = [](const auto& work) { std::thread(work).join(); };
    const auto of_onednn = [&](auto make, std::vector<double>& times) {
        alone([&] {
            omp_set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
            const Work work = make(x, weights, out, s);
            work();
            for (int i = 0; i < kTries; ++i) times.push_back(seconds(work));
        });
    };
    for (int turn = 0; turn < 2; ++turn) {
        alone([&] {
            const Work work = by_us(x, weights, out, s);
            work();
            for (int i = 0; i < kTries; ++i) ours.push_back(seconds(work));
        });
        of_onednn(by_matmul, matmul);
        of_onednn(by_inner_product, inner);
    }
    return {{"m", s.m},
            {"k", s.k},
            {"n", s.n},
            {"count", s.count},
            {"ours", median(ours)},
            {"onednn", std::min(median(matmul), median(inner))}};
}

std::optional<Shape> shape_of(const char* text) {
    Shape s;
    const int read = std::sscanf(text, "%td,%td,%td,%td", &s.m, &s.k, &s.n, &s.count);
    return read == 4 && s.m > 0 && s.k > 0 && s.n > 0 && s.count > 0 ? std::optional(s) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) try {
    nlohmann::json all = nlohmann::json::array();
    for (int i = 1; i < argc; ++i) {
        const std::optional<Shape> shape = shape_of(argv[i]);
        if (!shape) {
            std::cerr << argv[i] << ": a shape is four positive numbers, M,K,N,COUNT\n";
            return 1;
        }
        all.push_back(measured(*shape));
    }
    std::cout << all.dump() << "\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
