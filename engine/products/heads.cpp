#include "engine/products/heads.h"

#include "engine/base/parallel.h"
#include "engine/tensor/memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace decoderscope::products {

namespace {

// Copies rows of a matrix. A head's row is short: a call to memcpy would take longer than copying.
void copy_rows(Index rows, Index columns, const float* from, Index from_stride, float* to, Index to_stride) {
    constexpr Index kAtOnce = 8;
    for (Index r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
        Index i = 0;
        for (; i + kAtOnce <= columns; i += kAtOnce) std::memcpy(to + i, from + i, kAtOnce * sizeof(float));
        for (; i < columns; ++i) to[i] = from[i];
    }
}

// Calls visit(beside, apart) for each head: with the offset of its first row in both layouts.
template <class Visit>
void each_head(const Heads& h, const Visit& visit) {
    const Index plane = h.positions * h.d_head;
    in_parallel(h.batch * h.heads, plane * kCopyCost, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            visit((i / h.heads * h.positions * h.heads + i % h.heads) * h.d_head, i * plane);
    });
}

// Whether a product with this weight can use a batch row's heads in place. Short batch rows are multiplied together:
// one by one, each would read the weight again.
bool stay_apart(const Heads& h, const Tensor& weight) {
    constexpr Index kLong = 64;
    return (h.batch == 1 || h.positions >= kLong) && takes_blocks(weight, h.d_head);
}

// A batch row's heads as one matrix [pos, head·d_head], `data` at its first number.
template <class Number>
MatrixOf<Number> heads_of_row(const Heads& h, Number* data) {
    return {data, h.positions, h.heads * h.d_head, h.d_head, h.d_head, h.positions * h.d_head};
}

}  // namespace

void part_heads(const Heads& h, const float* beside, float* apart) {
    each_head(h, [&](Index from, Index to) {
        copy_rows(h.positions, h.d_head, beside + from, h.heads * h.d_head, apart + to, h.d_head);
    });
}

void join_heads(const Heads& h, const float* apart, float* beside) {
    each_head(h, [&](Index to, Index from) {
        copy_rows(h.positions, h.d_head, apart + from, h.d_head, beside + to, h.heads * h.d_head);
    });
}

void project_to_heads(const float* x, const Tensor& weight, const float* bias, const Heads& h, float* apart) {
    const Index outputs = weight.dim(0), inputs = weight.dim(1), rows = h.batch * h.positions;
    if (stay_apart(h, weight)) {
        for (Index b = 0; b < h.batch; ++b)
            multiply_weight({x + b * h.positions * inputs, h.positions, inputs, inputs}, weight, bias,
                            heads_of_row(h, apart + b * h.positions * outputs));
        return;
    }
    const Floats beside = floats(rows * outputs);  // [batch, pos, head·d_head]
    multiply_weight({x, rows, inputs, inputs}, weight, bias, {beside.get(), rows, outputs, outputs});
    part_heads(h, beside.get(), apart);
}

void project_from_heads(const Heads& h, const float* apart, const Tensor& weight, const float* bias, float* out) {
    const Index outputs = weight.dim(0), inputs = weight.dim(1), rows = h.batch * h.positions;
    if (stay_apart(h, weight)) {
        for (Index b = 0; b < h.batch; ++b)
            multiply_weight(heads_of_row(h, apart + b * h.positions * inputs), weight, bias,
                            {out + b * h.positions * outputs, h.positions, outputs, outputs});
        return;
    }
    const Floats beside = floats(rows * inputs);  // [batch, pos, head·d_head]
    join_heads(h, apart, beside.get());
    multiply_weight({beside.get(), rows, inputs, inputs}, weight, bias, {out, rows, outputs, outputs});
}

Tensor gathered_by_key(const Tensor& weights, const Tensor& rows, const Axes& axes, float scale) {
    const Index heads = weights.dim(1), queries = weights.dim(2), keys = weights.dim(3), d_head = rows.dim(3);
    const Index key_heads = axes[1].size, group = heads / key_heads, size = keys * d_head;
    Tensor out(axes);
    float* to = out.writable().data();
    each_in_parallel(axes[0].size * key_heads, group * queries * keys * d_head, [&](Index plane) {
        float* sum = to + plane * size;
        std::vector<float> part(static_cast<std::size_t>(group > 1 ? size : 0));
        for (Index member = 0; member < group; ++member) {
            const Index head = plane / key_heads * heads + plane % key_heads * group + member;
            float* const made = member == 0 ? sum : part.data();
            multiply_turned({weights.data() + head * queries * keys, queries, keys, keys},
                            {rows.data() + head * queries * d_head, queries, d_head, d_head},
                            {made, keys, d_head, d_head});
            if (member > 0)
                for (Index i = 0; i < size; ++i) sum[i] += made[i];
        }
        for (Index i = 0; i < size; ++i) sum[i] *= scale;
    });
    return out;
}

}  // namespace decoderscope::products
