#include "engine/formulas/matrices.h"

#include "engine/formulas/vectors.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

#include <algorithm>
#include <limits>

namespace decoderscope::formulas {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix diagonal(const Eigen::VectorXd& values, const Matrix& of) {
    Matrix made = Matrix::Zero(of.rows(), of.cols());
    made.diagonal() = values;
    return made;
}

// The transpose of the pseudoinverse.
Matrix pseudoinverse(const Matrix& of) {
    const Eigen::BDCSVD<Matrix> svd(of, Eigen::ComputeThinU | Eigen::ComputeThinV);
    Eigen::VectorXd values = svd.singularValues();
    const double least = values.size() == 0 ? 0.0
                                            : values[0] * static_cast<double>(std::max(of.rows(), of.cols())) *
                                                  static_cast<double>(std::numeric_limits<float>::epsilon());
    for (double& value : values) value = value > least ? 1.0 / value : 0.0;
    return svd.matrixU() * values.asDiagonal() * svd.matrixV().transpose();
}

Matrix eliminated(const Matrix& of) {
    const Eigen::PartialPivLU<Matrix> lu(of);
    Matrix upper = lu.matrixLU().triangularView<Eigen::Upper>();
    upper.row(0) *= static_cast<double>(lu.permutationP().determinant());
    return upper;
}

Matrix inverse(const Matrix& of) {
    const Eigen::PartialPivLU<Matrix> lu(of);
    if ((lu.matrixLU().diagonal().array() == 0.0).any()) return Matrix::Constant(of.rows(), of.cols(), kNaN);
    return lu.inverse().transpose();
}

Matrix eigen(const Matrix& of) {
    if (of == of.transpose())
        return diagonal(Eigen::SelfAdjointEigenSolver<Matrix>(of, Eigen::EigenvaluesOnly).eigenvalues(), of);
    return Eigen::EigenSolver<Matrix>(of).pseudoEigenvalueMatrix();
}

Matrix computed(Op of_matrix, const Matrix& of) {
    if (of_matrix == Op::singular) return diagonal(Eigen::BDCSVD<Matrix>(of).singularValues(), of);
    if (of_matrix == Op::pseudoinverse) return pseudoinverse(of);
    if (of.rows() != of.cols()) return Matrix::Constant(of.rows(), of.cols(), kNaN);
    return of_matrix == Op::eigen ? eigen(of) : of_matrix == Op::inverse ? inverse(of) : eliminated(of);
}

}  // namespace

void compute(Op of_matrix, std::span<double> matrix, Index rows) {
    Eigen::Map<Matrix> in(matrix.data(), rows, static_cast<Index>(matrix.size()) / rows);
    if (!in.allFinite()) return std::ranges::fill(matrix, kNaN), void();
    in = computed(of_matrix, Matrix(in));
}

}  // namespace decoderscope::formulas
