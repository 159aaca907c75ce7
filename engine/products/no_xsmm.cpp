// What stands in for libxsmm in a build without it.
#include "engine/products/xsmm.h"

#include <cstdlib>

namespace decoderscope::xsmm_products {

bool can_multiply(Index) { return false; }
void multiply(const Panels&, ConstMatrix, const float*, Matrix) { std::abort(); }

}  // namespace decoderscope::xsmm_products
