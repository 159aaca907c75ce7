#pragma once

#include "engine/products/linalg.h"

// Products by libxsmm, with weights that oneDNN packed or of two matrices. All run on the calling thread.
namespace decoderscope::products::xsmm_products {

// A weight [n, k] in panels of `width` outputs: each is [k, width], row after row, and the next begins `stride` numbers
// after it. The last one has the same width; its contents beyond n don't matter.
struct Panels {
    const float* data;
    Index k, n, width, stride;
};

// Whether the program is built with libxsmm, and its kernels for such panels on this CPU sum each number in the order
// of k, for any number of rows. While multiplying one part of a panel they prefetch the next: with few rows, most of
// the time goes into reading the weight.
[[nodiscard]] bool can_multiply(Index width);

// Whether the columns of x or out may lie in blocks of that size.
[[nodiscard]] bool takes_blocks(const Panels& weight, Index block);

// out = x · weightᵀ + bias, for `count` outputs from `first`, the beginning of a panel.
void multiply(const Panels& weight, Index first, Index count, ConstMatrix x, const float* bias, Matrix out);

// How wide the panels are that the next function copies b to.
inline constexpr Index kPanel = 64;
// out = a · b       a [m, k], b [k, n], out [m, n]
// Each number is summed in the order of k, for any number of rows and columns, if can_multiply(kPanel). A copy of 256
// rows of b should fit into the L2 cache, and be worth it: for more than a few rows of a.
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);

}  // namespace decoderscope::products::xsmm_products
