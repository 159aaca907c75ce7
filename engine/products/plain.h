#pragma once

#include "engine/products/linalg.h"
#include "engine/tensor/memory.h"

// Products of matrices in the layout that they have in memory. linalg.cpp chooses between these and oneDNN's. All run
// on the calling thread, and each row has the same bits however many rows are computed with it.
namespace decoderscope::products::plain_products {

// out = scale · a · bᵀ       a [m, k], b [n, k], out [m, n]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale);
// out = a · b                a [m, k], b [k, n], out [m, n]
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);
// out = aᵀ · b               a [k, m], b [k, n], out [m, n]
void multiply_turned(ConstMatrix a, ConstMatrix b, Matrix out);

// A weight as its products read it, transposed once for all of them.
class TransposedWeight {
public:
    explicit TransposedWeight(ConstMatrix weight);  // [n, k]

    // out = x · weightᵀ + bias      x [m, k], bias [n] or nullptr, out [m, n]
    void multiply(ConstMatrix x, const float* bias, Matrix out) const;

private:
    Index k_;
    Floats panels_;
};

// Whether a product is added to the sum before it is rounded, in one instruction, as in oneDNN's kernels on CPUs that
// can.
[[nodiscard]] bool rounds_once();

// How many numbers one of its vectors holds.
[[nodiscard]] Index vector_width();

}  // namespace decoderscope::products::plain_products
