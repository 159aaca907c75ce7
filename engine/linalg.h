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

// The only place where matrices are multiplied. Inputs and output must not overlap.

// out = scale · a · bᵀ      a [m, k], b [n, k], out [m, n]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale = 1.0F);
// out = a · b               a [m, k], b [k, n], out [m, n]
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);
// out += row in every row   row [n], out [m, n]
void add_to_rows(const float* row, Matrix out);

}  // namespace decoderscope
