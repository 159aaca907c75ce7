// What stands in for libxsmm in a build without it.
#include "engine/products/xsmm.h"

#include <cstdlib>

namespace decoderscope::products::xsmm_products {

bool can_multiply(Index) { return false; }
bool takes_blocks(const Panels&, Index) { return false; }
void multiply(const Panels&, Index, Index, ConstMatrix, const float*, Matrix) { std::abort(); }
void multiply(ConstMatrix, ConstMatrix, Matrix) { std::abort(); }

}  // namespace decoderscope::products::xsmm_products
