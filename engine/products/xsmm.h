#pragma once

#include "engine/linalg.h"

// How libxsmm multiplies weights that oneDNN packed. All on the calling thread.
namespace decoderscope::xsmm_products {

// A weight [n, k] in panels of `width` outputs: each is [k, width], row after row, and the next begins `stride` numbers
// after it. The last one is as wide, whatever it holds beyond n.
struct Panels {
    const float* data;
    Index k, n, width, stride;
};

// Whether the program is built with libxsmm, and its kernels for such panels on this CPU add each number up in the
// order of k, however many rows there are. While they multiply a part of a panel they fetch the next: with few rows
// most of the time goes into reading the weight.
[[nodiscard]] bool can_multiply(Index width);

// Whether the columns of x or out may lie in blocks of that size.
[[nodiscard]] bool takes_blocks(const Panels& weight, Index block);

// out = x · weightᵀ + bias, so many outputs of it from the first one of a panel on.
void multiply(const Panels& weight, Index first, Index count, ConstMatrix x, const float* bias, Matrix out);

}  // namespace decoderscope::xsmm_products
