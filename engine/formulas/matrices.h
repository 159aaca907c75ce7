#pragma once

#include "engine/formulas/formula.h"

#include <span>

// What is made of whole matrices.
namespace decoderscope::formulas {

// A matrix of so many rows, row by row, becomes, by Eigen's decompositions:
// - singular: its singular values, the largest first, on the diagonal, and 0 beside it;
// - eigen: of a square one, the real parts of its eigenvalues on the diagonal and the imaginary parts beside them, in
//   the same row; of a symmetric one in rising order;
// - inverse, pseudoinverse: those, transposed; what is smaller than float32 can tell from 0 has no inverse in the
// second;
// - eliminated: of a square one, the upper triangle that elimination leaves, whose diagonal multiplies to the
//   determinant.
// - flow: of square matrices one below the other, the capacities of the edges from the positions of one layer (rows) to
//   those of the layer below it (columns): from each position of each layer the maximum flow down to each position
//   below them all (Abnar & Zuidema 2020).
// NaN everywhere if one of its numbers isn't finite, if it isn't square where that is needed, or has no inverse.
void compute(Op of_matrix, std::span<double> matrix, Index rows);

}  // namespace decoderscope::formulas
