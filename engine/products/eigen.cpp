#include "engine/products/plain.h"

#include <Eigen/Core>

namespace decoderscope::products::plain_products {

namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> map(ConstMatrix m) {
    return {m.data, m.rows, m.columns, Eigen::OuterStride<>(m.stride)};
}

Eigen::Map<RowMajor, 0, Eigen::OuterStride<>> map(Matrix m) {
    return {m.data, m.rows, m.columns, Eigen::OuterStride<>(m.stride)};
}

}  // namespace

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix out, float scale) {
    map(out).noalias() = map(a) * map(b).transpose();
    if (scale != 1.0F) map(out) *= scale;
}

void multiply(ConstMatrix a, ConstMatrix b, Matrix out) { map(out).noalias() = map(a) * map(b); }

// Its kernels for the last rows sum in another order.
bool rows_stand_alone() { return false; }

std::string version() {
    return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION);
}

}  // namespace decoderscope::products::plain_products
