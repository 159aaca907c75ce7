#pragma once

#include "engine/tensor.h"

namespace decoderscope {

// A matrix inside somebody's floats: rows of `columns` numbers, `stride` numbers apart.
struct ConstMatrix {
    const float* data;
    Index rows, columns, stride;
};
struct Matrix {
    float* data;
    Index rows, columns, stride;
};

// The only place where matrices are multiplied: large products by oneDNN and libxsmm where the program is built with
// them, small ones and all others by Eigen. Inputs and output must not overlap. Where rows stand alone, a number does
// not depend on how many threads there are.

// out = x · weightᵀ + bias   x [m, k], weight [n, k], bias [n] or nullptr, out [m, n]
// A large weight is packed the first time and stays so; the work is spread over the threads.
void multiply_weight(ConstMatrix x, const Tensor& weight, const float* bias, Matrix out);
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
