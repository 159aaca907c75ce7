#pragma once

#include "engine/row_math.h"
#include "engine/tensor.h"

// The rows that norms read.   x [batch, pos, d]
namespace decoderscope {

[[nodiscard]] inline row::In row_of(const Tensor& x, Index row) {
    const Index n = x.axes().back().size;
    return x.values().subspan(static_cast<std::size_t>(row * n), static_cast<std::size_t>(n));
}

// The row of a cell [batch, pos, …].
[[nodiscard]] inline row::In row_of(const Tensor& x, const Cell& cell) {
    return row_of(x, cell[0] * x.dim(1) + cell[1]);
}

// What the norm first subtracts from each value: the mean, or nothing under RMSNorm.
[[nodiscard]] inline double centre_of(row::In row, bool centred) {
    return centred ? row::sum(row) / static_cast<double>(row.size()) : 0.0;
}

}  // namespace decoderscope
