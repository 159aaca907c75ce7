// What stands in for oneDNN in a build without it.
#include "engine/products/onednn.h"

#include <cstdlib>

namespace decoderscope::products::onednn_products {

struct PackedWeight::Packed {};

bool available() { return false; }
std::string version() { return {}; }
bool rows_stand_alone() { return false; }
bool weight_rows_stand_alone() { return false; }
void multiply(ConstMatrix, ConstMatrix, bool, Matrix, float) { std::abort(); }

PackedWeight::PackedWeight(ConstMatrix, const RowsPacked&) {}
PackedWeight::~PackedWeight() = default;
void PackedWeight::unpack(float*) const { std::abort(); }
bool PackedWeight::copy(Index, std::span<float>) const { std::abort(); }
Index PackedWeight::slices() const { return 0; }
bool PackedWeight::takes_blocks(Index) const { return false; }
void PackedWeight::multiply(ConstMatrix, const float*, Matrix) const { std::abort(); }
void PackedWeight::multiply_slice(Index, ConstMatrix, const float*, Matrix) const { std::abort(); }

}  // namespace decoderscope::products::onednn_products
