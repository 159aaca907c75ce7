#include "engine/ops/softmax.h"

#include "engine/base/parallel.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>

namespace decoderscope::ops {

namespace {

constexpr Index kSoftmaxCost = 16;  // of one number, in multiply-adds
// Rows shorter than this are computed several at a time.
constexpr std::size_t kWide = 32;

}  // namespace

namespace {

// The softmax of a range of rows of values that were not read yet. Values certain to be −∞, such as the scores of keys
// in a query's future, get 0 without being computed.
void softmax_of_rows(const LazyRows& lazy, Index begin, Index end, std::size_t width, float* weights) {
    for (Index r = begin; r < end; ++r) {
        const row::Out y(weights + static_cast<std::size_t>(r) * width, width);
        const auto finite = static_cast<std::size_t>(lazy.finite_at_most(r));
        const row::Out first = y.first(finite);
        row::In values = lazy.in_place(r);
        if (values.empty()) {
            lazy.rows(r, r + 1, y);
            values = first;
        }
        row::softmax(values, finite, first);
        std::ranges::fill(y.subspan(finite), 0.0F * y[0]);  // NaN if the whole row is
    }
}

// The softmax of each row of x.
void softmax(const Tensor& x, float* to) {
    const Index n = x.axes().back().size, rows = x.size() / n;
    const auto width = static_cast<std::size_t>(n);
    const auto* lazy = x.lazy<LazyRows>();
    const float* from = lazy == nullptr ? x.data() : nullptr;
    in_parallel(rows, n * kSoftmaxCost, [&](Index begin, Index end) {
        const auto first = static_cast<std::size_t>(begin) * width;
        const auto count = static_cast<std::size_t>(end - begin) * width;
        const row::Out weights(to + first, count);
        if (lazy == nullptr) return row::softmax({from + first, count}, width, weights);
        if (width >= kWide) return softmax_of_rows(*lazy, begin, end, width, to);
        lazy->rows(begin, end, weights);
        row::softmax(weights, width, weights);
    });
}

// As above, computed when it is first read.
class LaterSoftmax : public LazyValues {
public:
    explicit LaterSoftmax(Tensor x) : x_(std::move(x)) {}
    void make(std::span<float> values) const override { softmax(x_, values.data()); }
    [[nodiscard]] Tensor some_rows(const SomeRows& rows) const override {
        Tensor x = decoderscope::some_rows(x_, rows);
        Axes axes = x.axes();
        return {std::move(axes), std::make_shared<const LaterSoftmax>(std::move(x))};
    }

private:
    Tensor x_;
};

}  // namespace

Tensor Softmax::compute(const Operands& in, const Axes& axes) const {
    if (when_read) return {axes, std::make_shared<const LaterSoftmax>(in[0])};
    Tensor out(axes);
    softmax(in[0], out.writable().data());
    return out;
}

namespace {

constexpr Index kSoftmaxGradientCost = 8;  // of one number, in multiply-adds

}  // namespace

Tensor Softmax::pull_back(std::size_t, const Backward& b) const {
    const Index n = b.out.axes().back().size;
    Tensor out(b.out.axes());
    const row::Out to = out.writable();
    const row::In y = b.out.values(), grad = b.grad.values();
    in_parallel(out.size() / n, n * kSoftmaxGradientCost, [&](Index begin, Index end) {
        const auto first = static_cast<std::size_t>(begin * n), count = static_cast<std::size_t>((end - begin) * n);
        row::softmax_back(y.subspan(first, count), grad.subspan(first, count), static_cast<std::size_t>(n),
                          to.subspan(first, count));
    });
    return out;
}

}  // namespace decoderscope::ops
