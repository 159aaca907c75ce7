#pragma once

#include "engine/products/linalg.h"

#include <string>

// Products of matrices as they lie in memory: Eigen's, in a browser our own (wasm.cpp). linalg.cpp chooses between
// these and oneDNN's. All run on the calling thread.
namespace decoderscope::products::plain_products {

// out = scale · a · bᵀ       a [m, k], b [n, k], out [m, n]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale);
// out = a · b                a [m, k], b [k, n], out [m, n]
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);

// Whether each row has the same bits however many rows are computed with it.
[[nodiscard]] bool rows_stand_alone();
[[nodiscard]] std::string version();

}  // namespace decoderscope::products::plain_products
