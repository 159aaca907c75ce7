#include "engine/ops/latent.h"

#include "engine/ops/head_norm.h"
#include "engine/products/heads.h"
#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace decoderscope::ops {

namespace {

constexpr Index kMostQueries = 8;

class LatentHeads : public LazyValues {
public:
    LatentHeads(Index count, const Tensor& of, const Tensor& by, const Tensor& added)
        : rows(of), weight(by), bias(added), heads(count), width(by.dim(0) / count), rank(by.dim(1)) {}

    void make(std::span<float> values) const override {
        products::project_to_heads(rows.data(), weight, bias.data(), {rows.dim(0), heads, rows.dim(1), width},
                                   values.data());
    }

    Tensor rows, weight, bias;  // without a bias it is empty
    Index heads, width, rank;
};

class LatentKeys : public LazyValues {
public:
    LatentKeys(const Tensor& of_head, const Tensor& of_all) : own(of_head), shared(of_all) {}

    void make(std::span<float> values) const override { join_columns(own, shared, values.data()); }

    Tensor own, shared;
};

// Calls work(first, count) for as many rows at a time as are multiplied without a kernel for their shape.
template <class Work>
void few_at_a_time(Index rows, const Work& work) {
    for (Index first = 0; first < rows; first += products::kFewRowsOfTwo)
        work(first, std::min(products::kFewRowsOfTwo, rows - first));
}

// [batch, pos, n] as [batch, head 1, pos, n]: the same numbers in the same order.
Tensor as_head(const Tensor& x) {
    return x.with_axes({x.axes()[0], {axis::head, 1}, x.axes()[1], {axis::d_head, x.dim(2)}});
}

Operands as_head(const Operands& in, const Tensor& first) {
    Operands read;
    read.add(first);
    for (std::size_t i = 1; i < in.size(); ++i) read.add(in[i]);
    return read;
}

// Cells of heads as those of rows.
HeadNorm norm_of(const RowNorm& op) { return {op.eps, false, op.plus_one}; }

}  // namespace

void join_columns(const Tensor& own, const Tensor& shared, float* joined) {
    const Index heads = own.dim(1), positions = own.dim(2), own_width = own.dim(3), shared_width = shared.dim(3);
    const float* from = own.data();
    const Planes of_all = planes_of(shared);
    for (Index plane = 0; plane < own.dim(0) * heads; ++plane) {
        const float* behind = of_all.data + plane / heads * of_all.apart;
        for (Index row = 0; row < positions; ++row, from += own_width, behind += shared_width) {
            joined = std::copy_n(from, own_width, joined);
            joined = std::copy_n(behind, shared_width, joined);
        }
    }
}

Tensor heads_when_read(Axes axes, const Tensor& rows, const Tensor& weight, const Tensor& bias) {
    const Index heads = axes[1].size;
    return {std::move(axes), std::make_shared<const LatentHeads>(heads, rows, weight, bias)};
}

Tensor joined_when_read(Axes axes, const Tensor& own, const Tensor& shared) {
    if (own.lazy<LatentHeads>() == nullptr) return {};
    return {std::move(axes), std::make_shared<const LatentKeys>(own, shared)};
}

// q · (W · row + bias) = (q · W) · row + q · bias
bool scores_by_latent_rows(const Tensor& q, const Tensor& k, float scale, float* scores) {
    const auto* keys = k.lazy<LatentKeys>();
    const auto* own = keys != nullptr ? keys->own.lazy<LatentHeads>() : nullptr;
    const Index queries = q.dim(2), width = q.dim(3), count = k.dim(2);
    if (own == nullptr || queries > kMostQueries) return false;
    const Index rows = own->heads * queries, rank = own->rank, shared_width = width - own->width;
    const Tensor weight = own->weight.for_one_use();
    const Planes latent = planes_of(own->rows), shared = planes_of(keys->shared);
    const Floats brought = floats(rows * rank), by_shared = floats(rows * count);
    const float* from = q.data();
    for (Index b = 0; b < q.dim(0); ++b, from += rows * width, scores += rows * count) {
        for (Index h = 0; h < own->heads; ++h)
            products::multiply({from + h * queries * width, queries, own->width, width},
                               {weight.data() + h * own->width * rank, own->width, rank, rank},
                               {brought.get() + h * queries * rank, queries, rank, rank});
        few_at_a_time(rows, [&](Index first, Index some) {
            products::multiply_transposed({brought.get() + first * rank, some, rank, rank},
                                          {latent.data + b * latent.apart, count, rank, rank},
                                          {scores + first * count, some, count, count}, scale);
            products::multiply_transposed({from + first * width + own->width, some, shared_width, width},
                                          {shared.data + b * shared.apart, count, shared_width, shared_width},
                                          {by_shared.get() + first * count, some, count, count}, scale);
        });
        for (Index row = 0; row < rows; ++row) {
            const float* const bias = own->bias.empty() ? nullptr : own->bias.data() + row / queries * own->width;
            const float* const query = from + row * width;
            const float constant =
                bias != nullptr ? scale * std::inner_product(query, query + own->width, bias, 0.0F) : 0.0F;
            for (Index i = row * count; i < (row + 1) * count; ++i) scores[i] += by_shared.get()[i] + constant;
        }
    }
    return true;
}

// Σ pattern · (W · row + bias) = W · Σ pattern · row + bias · Σ pattern
bool sums_by_latent_rows(const Tensor& pattern, const Tensor& v, float* z) {
    const auto* values = v.lazy<LatentHeads>();
    const Index queries = pattern.dim(2), count = pattern.dim(3);
    if (values == nullptr || queries > kMostQueries) return false;
    const Index rows = values->heads * queries, width = values->width, rank = values->rank;
    const Tensor weight = values->weight.for_one_use();
    const Planes latent = planes_of(values->rows);
    const Floats gathered = floats(rows * rank);
    const float* from = pattern.data();
    for (Index b = 0; b < pattern.dim(0); ++b, from += rows * count, z += rows * width) {
        few_at_a_time(rows, [&](Index first, Index some) {
            products::multiply({from + first * count, some, count, count},
                               {latent.data + b * latent.apart, count, rank, rank},
                               {gathered.get() + first * rank, some, rank, rank});
        });
        for (Index h = 0; h < values->heads; ++h)
            products::multiply_transposed({gathered.get() + h * queries * rank, queries, rank, rank},
                                          {weight.data() + h * width * rank, width, rank, rank},
                                          {z + h * queries * width, queries, width, width});
        if (values->bias.empty()) continue;
        for (Index row = 0; row < rows; ++row) {
            const float weights = std::accumulate(from + row * count, from + (row + 1) * count, 0.0F);
            const float* const bias = values->bias.data() + row / queries * width;
            for (Index d = 0; d < width; ++d) z[row * width + d] += weights * bias[d];
        }
    }
    return true;
}

// ---- the norm of a row: that of a single head

Tensor RowNorm::compute(const Operands& in, const Axes& axes) const {
    const Tensor x = as_head(in[0]);
    return norm_of(*this).compute(as_head(in, x), x.axes()).with_axes(axes);
}

// ---- some columns

ByFormula Columns::formula() const {
    return {as_head ? "columns_as_head" : "columns",
            {"x"},
            {{"first", static_cast<double>(first)}, {"rank", static_cast<double>(count)}, {"one_head", 1.0}}};
}

Axes Columns::axes(const OperandAxes& in) const {
    if (as_head) return {in[0][0], {axis::head, 1}, in[0][1], {axis::d_head, count}};
    return {in[0][0], in[0][1], {axis::rank, count}};
}

Tensor Columns::compute(const Operands& in, const Axes& axes) const {
    const Index width = in[0].dim(2);
    Tensor out(axes);
    float* to = out.writable().data();
    for (Index row = 0; row < in[0].size() / width; ++row)
        to = std::copy_n(in[0].data() + row * width + first, count, to);
    return out;
}

// ---- own and shared columns

Axes JoinColumns::axes(const OperandAxes& in) const {
    Axes axes = in[0];
    axes.resize(3, in[0][3].size + in[1][3].size);
    return axes;
}

Tensor JoinColumns::compute(const Operands& in, const Axes& axes) const {
    if (Tensor later = joined_when_read(axes, in[0], in[1]); !later.empty()) return later;
    Tensor out(axes);
    join_columns(in[0], in[1], out.writable().data());
    return out;
}

}  // namespace decoderscope::ops
