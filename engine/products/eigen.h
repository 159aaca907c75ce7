#pragma once

#include "engine/linalg.h"

#include <string>

// Products by Eigen; linalg.cpp chooses the library. All run on the calling thread.
namespace decoderscope::eigen_products {

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale);
void multiply(ConstMatrix a, ConstMatrix b, Matrix out);
[[nodiscard]] std::string version();

}  // namespace decoderscope::eigen_products
