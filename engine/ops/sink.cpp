#include "engine/ops/sink.h"

#include "engine/base/parallel.h"
#include "engine/ops/softmax.h"
#include "engine/tensor/row_math.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace decoderscope::ops {

namespace {

constexpr Index kSinkCost = 16;  // of one number, in multiply-adds

// The sink of the head that a row of scores belongs to.   row: one of batch·head·query
float sink_of(const Operands& in, Index row) { return in[1].data()[row / in[0].dim(2) % in[0].dim(1)]; }

// One row's weights, the sink's last.
void weigh(const Operands& in, Index row, row::Out both) {
    const auto keys = both.size() - 1;
    std::ranges::copy(in[0].values().subspan(static_cast<std::size_t>(row) * keys, keys), both.begin());
    both.back() = sink_of(in, row);
    row::softmax(both, both.size(), both);
}

// Visits each row in order: its weights, the sink's last.
template <class Take>
void each_row(const Operands& in, const Take& take) {
    const Index keys = in[0].dim(3);
    static_cast<void>(in[0].data());  // computed once, not by each thread
    in_parallel(in[0].size() / keys, keys * kSinkCost, [&](Index begin, Index end) {
        std::vector<float> both(static_cast<std::size_t>(keys) + 1);
        for (Index row = begin; row < end; ++row) {
            weigh(in, row, both);
            take(row, row::In(both));
        }
    });
}

// Σ_k g · y over a row's keys.
double average_of(row::In weights, const float* grad) {
    double sum = 0.0;
    for (std::size_t k = 0; k + 1 < weights.size(); ++k)
        sum += static_cast<double>(grad[k]) * static_cast<double>(weights[k]);
    return sum;
}

// Sums a number of each row by head, in the order of rows.
Tensor by_head(const Operands& in, const std::vector<double>& of_rows) {
    std::vector<double> sums(static_cast<std::size_t>(in[1].size()));
    for (std::size_t row = 0; row < of_rows.size(); ++row)
        sums[static_cast<std::size_t>(static_cast<Index>(row) / in[0].dim(2) % in[0].dim(1))] += of_rows[row];
    Tensor out(in[1].axes());
    std::ranges::transform(sums, out.writable().begin(), [](double sum) { return static_cast<float>(sum); });
    return out;
}

std::size_t rows_in(const Operands& in) { return static_cast<std::size_t>(in[0].size() / in[0].dim(3)); }

}  // namespace

Tensor SoftmaxWithSink::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::Out to = out.writable();
    each_row(in, [&](Index row, row::In weights) {
        const std::size_t keys = weights.size() - 1;
        std::ranges::copy(weights.first(keys), to.subspan(static_cast<std::size_t>(row) * keys, keys).begin());
    });
    return out;
}

Tensor SoftmaxWithSink::pull_back(std::size_t operand, const Backward& b) const {
    const Index keys = b.grad.dim(3);
    const float* grad = b.grad.data();
    if (operand == 1) {
        std::vector<double> of_rows(rows_in(b.in));
        each_row(b.in, [&](Index row, row::In weights) {
            of_rows[static_cast<std::size_t>(row)] =
                -static_cast<double>(weights.back()) * average_of(weights, grad + row * keys);
        });
        return by_head(b.in, of_rows);
    }
    Tensor out(b.grad.axes());
    float* to = out.writable().data();
    each_row(b.in, [&](Index row, row::In weights) {
        const double average = average_of(weights, grad + row * keys);
        for (Index k = 0; k < keys; ++k)
            to[row * keys + k] = static_cast<float>(static_cast<double>(weights[static_cast<std::size_t>(k)]) *
                                                    (static_cast<double>(grad[row * keys + k]) - average));
    });
    return out;
}

// ---- the sink's own weight

Tensor SinkWeight::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::Out to = out.writable();
    each_row(in, [&](Index row, row::In weights) { to[static_cast<std::size_t>(row)] = weights.back(); });
    return out;
}

Tensor SinkWeight::pull_back(std::size_t operand, const Backward& b) const {
    const float* grad = b.grad.data();
    if (operand == 1) {
        std::vector<double> of_rows(rows_in(b.in));
        each_row(b.in, [&](Index row, row::In weights) {
            const auto sink = static_cast<double>(weights.back());
            of_rows[static_cast<std::size_t>(row)] = static_cast<double>(grad[row]) * sink * (1.0 - sink);
        });
        return by_head(b.in, of_rows);
    }
    Tensor out(b.in[0].axes());
    const Index keys = out.dim(3);
    float* to = out.writable().data();
    each_row(b.in, [&](Index row, row::In weights) {
        const double by = -static_cast<double>(grad[row]) * static_cast<double>(weights.back());
        for (Index k = 0; k < keys; ++k)
            to[row * keys + k] = static_cast<float>(by * static_cast<double>(weights[static_cast<std::size_t>(k)]));
    });
    return out;
}

}  // namespace decoderscope::ops
