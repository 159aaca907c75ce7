#include "engine/formulas/matrices.h"

#include "engine/formulas/vectors.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace decoderscope::formulas {
namespace {

// Column by column, as Eigen's decompositions work.
using Matrix = Eigen::MatrixXd;

Matrix diagonal(const Eigen::VectorXd& values, const Matrix& of) {
    Matrix made = Matrix::Zero(of.rows(), of.cols());
    made.diagonal() = values;
    return made;
}

// By Householder's reflections to two diagonals (Golub and Kahan 1965), whose singular values are the upper half of the
// eigenvalues of a tridiagonal matrix that has zeros on its diagonal and their numbers, in turn, beside it. Eigen's own
// classes need a minute to be compiled.
Eigen::VectorXd singular_values(const Matrix& of) {
    Matrix left = of.rows() < of.cols() ? Matrix(of.transpose()) : of;
    const Index rows = left.rows(), columns = left.cols();
    Eigen::VectorXd beside(2 * columns - 1), work(rows);
    double factor = 0.0;
    for (Index i = 0; i < columns; ++i) {
        const Index behind = columns - i - 1;
        auto column = left.col(i).tail(rows - i);
        column.makeHouseholderInPlace(factor, beside[2 * i]);
        left.bottomRightCorner(rows - i, behind)
            .applyHouseholderOnTheLeft(column.tail(rows - i - 1), factor, work.data());
        if (behind == 0) break;
        auto row = left.row(i).tail(behind);
        row.makeHouseholderInPlace(factor, beside[2 * i + 1]);
        left.bottomRightCorner(rows - i - 1, behind)
            .applyHouseholderOnTheRight(row.tail(behind - 1).transpose(), factor, work.data());
    }
    Eigen::SelfAdjointEigenSolver<Matrix> solver;
    solver.computeFromTridiagonal(Eigen::VectorXd::Zero(2 * columns), beside, Eigen::EigenvaluesOnly);
    return solver.eigenvalues().tail(columns).reverse().cwiseMax(0.0);
}

// The transpose of the pseudoinverse.
Matrix pseudoinverse(const Matrix& of) {
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposed;
    decomposed.setThreshold(static_cast<double>(std::max(of.rows(), of.cols())) *
                            static_cast<double>(std::numeric_limits<float>::epsilon()));
    return decomposed.compute(of).pseudoInverse().transpose();
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
    return Eigen::EigenSolver<Matrix>(of, false).pseudoEigenvalueMatrix();
}

// The maximum flow between positions of the layers that these capacities lie between (Dinic 1970). A node is its layer
// times the width and its position; an edge is a cell: from node `row + width` down to a node of the layer below.
class Flow {
public:
    explicit Flow(const Matrix& capacity) : left_(capacity), sent_(Matrix::Zero(capacity.rows(), capacity.cols())) {}

    double between(Index from, Index to) {
        double flow = 0.0;
        while (reaches(from, to)) {
            next_.assign(static_cast<std::size_t>(nodes(from)), 0);
            const auto push = [&] { return pushed(from, to, std::numeric_limits<double>::infinity()); };
            for (double more = push(); more > 0.0; more = push()) flow += more;
        }
        return flow;
    }

private:
    [[nodiscard]] Index width() const { return left_.cols(); }
    // Those of its layer and of all below it.
    [[nodiscard]] Index nodes(Index from) const { return (from / width() + 1) * width(); }
    [[nodiscard]] int& far(Index node) { return far_[static_cast<std::size_t>(node)]; }

    // What more can go from a node to its neighbour of this number: first those below it, then, back, those above.
    [[nodiscard]] std::pair<Index, double*> edge(Index node, Index number) {
        const Index layer = node / width(), position = node % width();
        if (number < width())
            return layer == 0 ? std::pair<Index, double*>(node, nullptr)
                              : std::pair((layer - 1) * width() + number, &left_(node - width(), number));
        const Index above = (layer + 1) * width() + number - width();
        if (above >= nodes_) return {node, nullptr};
        return {above, &sent_(above - width(), position)};
    }
    [[nodiscard]] double& back(Index node, Index number) {
        const Index layer = node / width(), position = node % width();
        return number < width() ? sent_(node - width(), number) : left_(layer * width() + number - width(), position);
    }

    // Counts how many edges each node is away; whether there is a way.
    bool reaches(Index from, Index to) {
        nodes_ = nodes(from);
        far_.assign(static_cast<std::size_t>(nodes_), -1);
        far(from) = 0;
        std::vector<Index> queue = {from};
        for (std::size_t i = 0; i < queue.size() && far(to) < 0; ++i)
            for (Index number = 0; number < 2 * width(); ++number) {
                const auto [other, room] = edge(queue[i], number);
                if (room == nullptr || *room <= 0.0 || far(other) >= 0) continue;
                far(other) = far(queue[i]) + 1;
                queue.push_back(other);
            }
        return far(to) >= 0;
    }

    // Along one way of the shortest, as much as it holds; 0 if there is none left.
    double pushed(Index node, Index to, double most) {
        if (node == to) return most;
        for (Index& number = next_[static_cast<std::size_t>(node)]; number < 2 * width(); ++number) {
            const auto [other, room] = edge(node, number);
            if (room == nullptr || *room <= 0.0 || far(other) != far(node) + 1) continue;
            if (const double flow = pushed(other, to, std::min(most, *room)); flow > 0.0) {
                *room -= flow;
                back(node, number) += flow;
                return flow;
            }
        }
        return 0.0;
    }

    Matrix left_, sent_;  // of each edge: what it still holds, and what goes along it
    Index nodes_ = 0;
    std::vector<int> far_;
    std::vector<Index> next_;  // of each node: the first neighbour that may still be a way
};

Matrix flow(const Matrix& capacity) {
    const Index width = capacity.cols();
    if (width == 0 || capacity.rows() % width != 0 || (capacity.array() < 0.0).any())
        return Matrix::Constant(capacity.rows(), width, kNaN);
    Matrix made = capacity;
    for (Index row = width; row < capacity.rows(); ++row)
        for (Index to = 0; to < width; ++to) made(row, to) = Flow(capacity).between(row + width, to);
    return made;
}

Matrix computed(Op of_matrix, const Matrix& of) {
    if (of_matrix == Op::singular) return diagonal(singular_values(of), of);
    if (of_matrix == Op::pseudoinverse) return pseudoinverse(of);
    if (of_matrix == Op::flow) return flow(of);
    if (of.rows() != of.cols()) return Matrix::Constant(of.rows(), of.cols(), kNaN);
    return of_matrix == Op::eigen ? eigen(of) : of_matrix == Op::inverse ? inverse(of) : eliminated(of);
}

}  // namespace

void compute(Op of_matrix, std::span<double> matrix, Index rows) {
    if (matrix.empty()) return;
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> in(
        matrix.data(), rows, static_cast<Index>(matrix.size()) / rows);
    if (!in.allFinite()) return std::ranges::fill(matrix, kNaN), void();
    in = computed(of_matrix, Matrix(in));
}

}  // namespace decoderscope::formulas
