#pragma once

#include "engine/tensor.h"

namespace decoderscope {

// A matrix inside somebody's floats: rows of `columns` numbers, `stride` numbers apart. Its columns may lie in blocks,
// as heads do: so many beside each other, the next ones `apart` numbers further on.
template <class Number>
struct MatrixOf {
    Number* data;
    Index rows, columns, stride;
    Index block = 0, apart = 0;  // no blocks

    // Where a column begins.
    [[nodiscard]] Number* column(Index c) const { return block == 0 ? data + c : data + c / block * apart + c % block; }
    // Some of the rows.
    [[nodiscard]] MatrixOf rows_from(Index first, Index count) const {
        return {data + first * stride, count, columns, stride, block, apart};
    }
};
using ConstMatrix = MatrixOf<const float>;
using Matrix = MatrixOf<float>;

// The only place where matrices are multiplied: large products by oneDNN and libxsmm where the program is built with
// them, small ones and all others by Eigen. Inputs and output must not overlap. Where rows stand alone, a number does
// not depend on how many threads there are.

// out = x · weightᵀ + bias   x [m, k], weight [n, k], bias [n] or nullptr, out [m, n]
// A large weight is packed the first time and stays so; the work is spread over the threads.
void multiply_weight(ConstMatrix x, const Tensor& weight, const float* bias, Matrix out);
// Whether the columns of x or out may lie in blocks of that size there.
[[nodiscard]] bool takes_blocks(const Tensor& weight, Index block);
// The same weight, kept only in the form that products want; its values are made again when somebody looks at them.
// Other tensors come back as they are.
[[nodiscard]] Tensor packed_for_products(const Tensor& weight);
// out = scale · a · bᵀ       a [m, k], b [n, k], out [m, n]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale = 1.0F);
// out = a · b                a [m, k], b [k, n], out [m, n]
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);

// Whether a row of such a product has the same bits however many rows are computed with it. Then some of the rows can
// be computed anew by themselves. Of a product of two matrices, and of one by a weight.
[[nodiscard]] bool rows_stand_alone(Index k, Index n);
[[nodiscard]] bool weight_rows_stand_alone(Index k, Index n);

// What multiplies large matrices, "oneDNN 2.6.3" or "Eigen 3.4.0".
[[nodiscard]] std::string products_by();

// out += row in every row    row [n], out [m, n]
void add_to_rows(const float* row, Matrix out);

}  // namespace decoderscope
