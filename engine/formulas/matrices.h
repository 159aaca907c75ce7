#pragma once

#include "engine/base/index.h"

#include <span>

// What is made of whole matrices.
namespace decoderscope::formulas {

// A matrix of so many rows becomes its singular values, the largest first, on the diagonal and 0 beside it (Eigen's
// BDCSVD). NaN everywhere if one of its numbers isn't finite.
void put_singular_values(std::span<double> matrix, Index rows);

}  // namespace decoderscope::formulas
