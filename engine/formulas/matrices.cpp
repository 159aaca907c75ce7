#include "engine/formulas/matrices.h"

#include "engine/formulas/vectors.h"

#include <Eigen/Core>
#include <Eigen/SVD>

#include <algorithm>

namespace decoderscope::formulas {

void put_singular_values(std::span<double> matrix, Index rows) {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Matrix> in(matrix.data(), rows, static_cast<Index>(matrix.size()) / rows);
    if (!in.allFinite()) return std::ranges::fill(matrix, kNaN), void();
    const Eigen::VectorXd values = Eigen::BDCSVD<Matrix>(in).singularValues();
    in.setZero();
    in.diagonal() = values;
}

}  // namespace decoderscope::formulas
