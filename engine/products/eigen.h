#pragma once

#include "engine/linalg.h"

#include <string>

// How Eigen multiplies; linalg.cpp chooses. All on the calling thread.
namespace decoderscope::eigen_products {

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale);
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);
[[nodiscard]] std::string version();

}  // namespace decoderscope::eigen_products
