#include "engine/formulas/matrices.h"

#include "engine/base/parallel.h"
#include "engine/formulas/vectors.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
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
    explicit Flow(const Matrix& capacity)
        : width_(capacity.cols()), edges_(static_cast<std::size_t>(capacity.rows() + width_)) {
        const double largest = capacity.size() > 0 ? capacity.maxCoeff() : 0.0;
        if (std::isfinite(largest)) nothing_ = 1e-15 * largest;
        for (Index row = 0; row < capacity.rows(); ++row)
            for (Index position = 0; position < width_; ++position)
                if (const double room = capacity(row, position); room > 0.0) {
                    const Index above = row + width_, below = row / width_ * width_ + position;
                    std::vector<Edge>&from = edges_[at(above)], &to = edges_[at(below)];
                    from.push_back({below, to.size(), room, room});
                    to.push_back({above, from.size() - 1, 0.0, 0.0});
                }
    }

    double between(Index from, Index to) {
        for (auto& [edge, room] : changed_) edge->room = room;
        changed_.clear();
        nodes_ = (from / width_ + 1) * width_;  // those of its layer and of all below it
        double most_out = 0.0, most_in = 0.0, flow = 0.0;
        for (const Edge& edge : edges_[at(from)]) most_out += edge.capacity;
        for (const Edge& edge : edges_[at(to)])
            if (edge.to < nodes_) most_in += edges_[at(edge.to)][edge.back].capacity;
        const double most = std::min(most_out, most_in);
        while (most - flow > nothing_ && reaches(from, to)) {
            next_.assign(at(nodes_), 0);
            const auto push = [&] { return pushed(from, to, std::numeric_limits<double>::infinity()); };
            for (double more = push(); more > 0.0; more = push()) flow += more;
        }
        return flow;
    }

private:
    struct Edge {
        Index to;
        std::size_t back;       // which of the other node's edges leads back
        double room, capacity;  // what it still holds, and held; an edge back has no capacity of its own
    };
    static std::size_t at(Index node) { return static_cast<std::size_t>(node); }
    [[nodiscard]] bool leads(const Edge& edge) const { return edge.room > nothing_ && edge.to < nodes_; }

    // Counts how many edges each node is away; whether there is a way.
    bool reaches(Index from, Index to) {
        far_.assign(at(nodes_), -1);
        far_[at(from)] = 0;
        std::vector<Index> queue = {from};
        for (std::size_t i = 0; i < queue.size() && far_[at(to)] < 0; ++i)
            for (const Edge& edge : edges_[at(queue[i])])
                if (leads(edge) && far_[at(edge.to)] < 0) {
                    far_[at(edge.to)] = far_[at(queue[i])] + 1;
                    queue.push_back(edge.to);
                }
        return far_[at(to)] >= 0;
    }

    // Along one way of the shortest, as much as it holds; 0 if there is none left.
    double pushed(Index node, Index to, double most) {
        if (node == to) return most;
        std::vector<Edge>& edges = edges_[at(node)];
        for (std::size_t& number = next_[at(node)]; number < edges.size(); ++number) {
            Edge& edge = edges[number];
            if (!leads(edge) || far_[at(edge.to)] != far_[at(node)] + 1) continue;
            if (const double flow = pushed(edge.to, to, std::min(most, edge.room)); flow > 0.0) {
                for (Edge* one : {&edge, &edges_[at(edge.to)][edge.back]}) changed_.emplace_back(one, one->capacity);
                edge.room -= flow;
                edges_[at(edge.to)][edge.back].room += flow;
                return flow;
            }
        }
        return 0.0;
    }

    Index width_, nodes_ = 0;
    double nothing_ = 0.0;  // less is a rounding
    std::vector<std::vector<Edge>> edges_;
    std::vector<std::pair<Edge*, double>> changed_;  // since the last flow, with what they held
    std::vector<int> far_;
    std::vector<std::size_t> next_;  // of each node: the first edge that may still be a way
};

Matrix flow(const Matrix& capacity) {
    const Index width = capacity.cols();
    if (width == 0 || capacity.rows() % width != 0 || (capacity.array() < 0.0).any())
        return Matrix::Constant(capacity.rows(), width, kNaN);
    Matrix made = capacity;
    each_in_parallel(capacity.rows() - width, capacity.size() * width, [&](Index i) {
        const Index row = width + i;
        Flow flow(capacity);
        for (Index to = 0; to < width; ++to) made(row, to) = flow.between(row + width, to);
    });
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
