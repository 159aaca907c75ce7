#pragma once

#include "engine/tensor/tensor.h"

namespace decoderscope::products {

// A view of a matrix in memory that it does not own: rows of `columns` numbers, `stride` numbers apart. Its columns may
// lie in blocks, as heads do: `block` adjacent columns, and the next block `apart` numbers further on.
template <class Number>
struct MatrixOf {
    Number* data;
    Index rows, columns, stride;
    Index block = 0, apart = 0;  // 0: no blocks

    // The address of a column's first number.
    [[nodiscard]] Number* column(Index c) const { return block == 0 ? data + c : data + c / block * apart + c % block; }
    // Some of the rows.
    [[nodiscard]] MatrixOf rows_from(Index first, Index count) const {
        return {data + first * stride, count, columns, stride, block, apart};
    }
};
using ConstMatrix = MatrixOf<const float>;
using Matrix = MatrixOf<float>;

// The only place where matrices are multiplied: large products by oneDNN and libxsmm if the program is built with them,
// all others by a kernel of our own. Inputs and output must not overlap. Where rows are independent (rows_stand_alone),
// results do not depend on the number of threads.

// out = x · weightᵀ + bias   x [m, k], weight [n, k], bias [n] or nullptr, out [m, n]
// A large weight is packed on first use and stays packed; the work is spread over the threads.
void multiply_weight(ConstMatrix x, const Tensor& weight, const float* bias, Matrix out);
// Whether the columns of x or out may lie in blocks of that size in a product with this weight.
[[nodiscard]] bool takes_blocks(const Tensor& weight, Index block);
// The weight, kept only in packed form; its values are unpacked on demand. Other tensors are returned unchanged.
[[nodiscard]] Tensor packed_for_products(const Tensor& weight);
// Up to this many rows of two matrices our own kernel multiplies, whatever their shape, if it rounds as oneDNN does:
// oneDNN compiles one for each shape, and with a cache every token brings another one. The bits are the same if its
// rows stand alone: both sum in the order of k, a multiply-add at a time.
inline constexpr Index kFewRowsOfTwo = 16;
// out = scale · a · bᵀ       a [m, k], b [n, k], out [m, n]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale = 1.0F);
// out = a · b                a [m, k], b [k, n], out [m, n]
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);
// As above; the threads share the rows of a large product if each stands alone.
void multiply_in_parallel(ConstMatrix a, ConstMatrix b, Matrix out);
// out = aᵀ · b               a [k, m], b [k, n], out [m, n]; the threads share it in the same way
void multiply_turned(ConstMatrix a, ConstMatrix b, Matrix out);

// Whether a row of such a product has the same bits however many rows are computed with it, so that some rows can be
// recomputed without the others. The first is for a product of two matrices, the second for one with a weight.
[[nodiscard]] bool rows_stand_alone(Index k, Index n);
[[nodiscard]] bool weight_rows_stand_alone(Index k, Index n);

// What multiplies large matrices: "oneDNN 2.6.3", or "vectors of 16 numbers".
[[nodiscard]] std::string products_by();

// Adds row to every row of out.    row [n], out [m, n]
void add_to_rows(const float* row, Matrix out);

}  // namespace decoderscope::products
