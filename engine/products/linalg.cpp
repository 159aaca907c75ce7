#include "engine/products/linalg.h"

#include "engine/base/parallel.h"
#include "engine/products/onednn.h"
#include "engine/products/plain.h"
#include "engine/products/xsmm.h"
#include "engine/tensor/memory.h"

#include <algorithm>

namespace decoderscope::products {

namespace {

// Below this many multiply-adds per row, our own kernel is faster. The number of rows must not matter, or their bits
// would depend on it.
constexpr Index kSmallRow = 5'000;
// The limit for aᵀ · b with that many numbers: before oneDNN multiplies, a is copied.
constexpr Index kSmallResult = 20'000;

// Up to this many rows the threads share a weight's outputs, so that each reads only its part of the weight. More rows
// are themselves divided, at multiples that suit the kernels.
constexpr Index kFewRows = 128;
constexpr Index kRowBlock = 16;

using onednn_products::PackedWeight;
using plain_products::TransposedWeight;

bool by_onednn(Index k, Index n) { return onednn_products::available() && k * n >= kSmallRow; }
// Whether oneDNN multiplies two matrices of these sizes.
bool by_onednn(Index rows, Index k, Index n) {
    return (rows > kFewRowsOfTwo || !plain_products::rounds_once()) && by_onednn(k, n);
}

// Divides the rows of `out` among the threads if a product is large enough: work(first, rows).
template <class Work>
void share_rows(Index rows, Index cost_of_row, const Work& work) {
    if (!is_shared(rows * cost_of_row)) return work(0, rows);
    // Two blocks per thread, so that a delayed thread delays the others less.
    const Index pieces = 2 * thread_count();
    const Index block = ((rows + pieces - 1) / pieces + kRowBlock - 1) / kRowBlock * kRowBlock;
    const Index blocks = (rows + block - 1) / block;
    each_in_parallel(blocks, rows * cost_of_row / blocks,
                     [&](Index piece) { work(piece * block, std::min(block, rows - piece * block)); });
}

void multiply_packed(ConstMatrix x, const PackedWeight& weight, const float* bias, Matrix out) {
    const Index cost = x.rows * x.columns * out.columns;
    if (!is_shared(cost)) return weight.multiply(x, bias, out);
    if (x.rows <= kFewRows) {
        each_in_parallel(weight.slices(), cost / weight.slices(),
                         [&](Index slice) { weight.multiply_slice(slice, x, bias, out); });
        return;
    }
    share_rows(x.rows, x.columns * out.columns, [&](Index first, Index rows) {
        weight.multiply(x.rows_from(first, rows), bias, out.rows_from(first, rows));
    });
}

std::shared_ptr<const PackedWeight> pack(const Tensor& weight) {
    const Index n = weight.dim(0), k = weight.dim(1);
    // What is expanded only for the products isn't kept beside their own form of it.
    Floats expanded;
    if (const auto* lazy = weight.lazy<LazyValues>()) {
        expanded = floats(weight.size());
        lazy->make({expanded.get(), static_cast<std::size_t>(weight.size())});
    }
    const float* values = expanded ? expanded.get() : weight.data();
    const auto packed = std::make_shared<const PackedWeight>(
        ConstMatrix{values, n, k, k}, [&](Index first, Index rows) { weight.leave_to_file(first * k, rows * k); });
    weight.leave_to_file(0, weight.size());  // the pages of large folios came back with their neighbours
    return packed;
}

const PackedWeight& packed(const Tensor& weight) {
    return weight.derived<PackedWeight>([&] { return pack(weight); });
}

// A weight of which only the packed form is kept.
class Unpacked : public LazyValues {
public:
    explicit Unpacked(std::shared_ptr<const PackedWeight> packed) : packed_(std::move(packed)) {}
    void make(std::span<float> values) const override { packed_->unpack(values.data()); }
    [[nodiscard]] bool copy(Index first, std::span<float> to) const override { return packed_->copy(first, to); }

private:
    std::shared_ptr<const PackedWeight> packed_;
};

// Rows and columns in pieces that suit libxsmm's copy of b, a few for each thread.
void share_by_xsmm(ConstMatrix a, ConstMatrix b, Matrix out) {
    constexpr Index kRows = 512, kColumns = 256;
    const Index row_pieces = (out.rows + kRows - 1) / kRows;
    const Index wanted = is_shared(out.rows * a.columns * out.columns) ? 2 * thread_count() : 1;
    const Index panels = (out.columns + xsmm_products::kPanel - 1) / xsmm_products::kPanel;
    const Index column_pieces =
        std::clamp<Index>((wanted + row_pieces - 1) / row_pieces, (out.columns + kColumns - 1) / kColumns, panels);
    const Index rows = (out.rows + row_pieces - 1) / row_pieces;
    const Index columns = (panels + column_pieces - 1) / column_pieces * xsmm_products::kPanel;
    each_in_parallel(row_pieces * column_pieces, rows * a.columns * columns, [&](Index piece) {
        const Index row = piece / column_pieces * rows, column = piece % column_pieces * columns;
        const Index height = std::min(rows, out.rows - row), width = std::min(columns, out.columns - column);
        if (height <= 0 || width <= 0) return;
        xsmm_products::multiply(a.rows_from(row, height), {b.data + column, b.rows, width, b.stride},
                                {out.data + row * out.stride + column, height, width, out.stride});
    });
}

// {columns, rows} of a matrix; a square at a time, so that both sides stay in the cache.
Floats turned(ConstMatrix m) {
    constexpr Index kSquare = 32;
    Floats out = floats(m.rows * m.columns);
    float* to = out.get();
    const Index strips = (m.columns + kSquare - 1) / kSquare;
    each_in_parallel(strips, m.rows * kSquare * kCopyCost, [&](Index strip) {
        const Index first = strip * kSquare, last = std::min(m.columns, first + kSquare);
        for (Index r0 = 0; r0 < m.rows; r0 += kSquare)
            for (Index c = first; c < last; ++c)
                for (Index r = r0; r < std::min(m.rows, r0 + kSquare); ++r)
                    to[c * m.rows + r] = m.data[r * m.stride + c];
    });
    return out;
}

}  // namespace

Tensor packed_for_products(const Tensor& weight) {
    if (weight.rank() != 2 || !by_onednn(weight.dim(1), weight.dim(0))) return weight;
    const std::shared_ptr<const PackedWeight> packed = pack(weight);
    return {weight.axes(), std::make_shared<const Unpacked>(packed), packed};
}

bool takes_blocks(const Tensor& weight, Index block) {
    return by_onednn(weight.dim(1), weight.dim(0)) && packed(weight).takes_blocks(block);
}

void multiply_weight(ConstMatrix x, const Tensor& weight, const float* bias, Matrix out) {
    const Index n = weight.dim(0), k = weight.dim(1);
    if (by_onednn(k, n)) {
        multiply_packed(x, packed(weight), bias, out);
        return;
    }
    const ConstMatrix values = {weight.data(), n, k, k};
    if (k * n < kSmallRow) {
        const auto& transposed =
            weight.derived<TransposedWeight>([&] { return std::make_shared<const TransposedWeight>(values); });
        return share_rows(x.rows, k * n, [&](Index first, Index rows) {
            transposed.multiply(x.rows_from(first, rows), bias, out.rows_from(first, rows));
        });
    }
    // Without oneDNN, a large weight isn't kept twice.
    share_rows(x.rows, k * n, [&](Index first, Index rows) {
        plain_products::multiply_transposed(x.rows_from(first, rows), values, out.rows_from(first, rows), 1.0F);
    });
    if (bias != nullptr) add_to_rows(bias, out);
}

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale) {
    if (by_onednn(a.rows, a.columns, out.columns))
        onednn_products::multiply(a, b, true, out, scale);
    else
        plain_products::multiply_transposed(a, b, out, scale);
}

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) {
    if (by_onednn(a.rows, a.columns, out.columns))
        onednn_products::multiply(a, b, false, out, 1.0F);
    else
        plain_products::multiply(a, b, out);
}

void multiply_in_parallel(ConstMatrix a, ConstMatrix b, Matrix out) {
    if (by_onednn(a.rows, a.columns, out.columns) && xsmm_products::can_multiply(xsmm_products::kPanel))
        return share_by_xsmm(a, b, out);
    if (!rows_stand_alone(a.columns, out.columns)) return multiply(a, b, out);
    share_rows(a.rows, a.columns * out.columns,
               [&](Index first, Index rows) { multiply(a.rows_from(first, rows), b, out.rows_from(first, rows)); });
}

void multiply_turned(ConstMatrix a, ConstMatrix b, Matrix out) {
    if (onednn_products::available() && out.rows * out.columns >= kSmallResult) {
        const Floats by_column = turned(a);
        return multiply_in_parallel({by_column.get(), a.columns, a.rows, a.rows}, b, out);
    }
    share_rows(out.rows, a.rows * out.columns, [&](Index first, Index rows) {
        plain_products::multiply_turned({a.data + first, a.rows, rows, a.stride}, b, out.rows_from(first, rows));
    });
}

bool rows_stand_alone(Index k, Index n) { return !by_onednn(k, n) || onednn_products::rows_stand_alone(); }
bool weight_rows_stand_alone(Index k, Index n) {
    return !by_onednn(k, n) || onednn_products::weight_rows_stand_alone();
}

std::string products_by() {
    return onednn_products::available() ? onednn_products::version()
                                        : "vectors of " + std::to_string(plain_products::vector_width()) + " numbers";
}

void add_to_rows(const float* row, Matrix out) {
    for (Index r = 0; r < out.rows; ++r)
        for (Index c = 0; c < out.columns; ++c) out.data[r * out.stride + c] += row[c];
}

}  // namespace decoderscope::products
