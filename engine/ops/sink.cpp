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

// ---- the sink's own weight

Tensor SinkWeight::compute(const Operands& in, const Axes& axes) const {
    Tensor out(axes);
    const row::Out to = out.writable();
    each_row(in, [&](Index row, row::In weights) { to[static_cast<std::size_t>(row)] = weights.back(); });
    return out;
}

}  // namespace decoderscope::ops
