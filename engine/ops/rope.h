#pragma once

#include "engine/operation.h"
#include "engine/ops/kinds.h"

#include <utility>

namespace decoderscope {

// How the frequencies are lowered. linear divides all by `factor`; llama3 only those whose wave is longer than
// original_positions / low_freq_factor, leaves those shorter than original_positions / high_freq_factor, and blends
// between (Llama 3.1).
struct RopeScaling {
    RopeScalingKind kind = RopeScalingKind::none;
    double factor = 1.0, low_freq_factor = 1.0, high_freq_factor = 4.0;
    Index original_positions = 0;

    [[nodiscard]] float scaled(float frequency) const;
    bool operator==(const RopeScaling&) const = default;
};

// Rotary positions (Su et al. 2021): pairs of columns are the two coordinates of a point, turned by the angle
// pos · theta^(−2i/columns) for pair i. Rotate-half (Hugging Face's Llama) pairs columns i and i + columns/2,
// interleaved (Su et al., Llama's own release, GPT-J) 2i and 2i + 1. Columns after the first `columns` stay (GPT-J,
// GPT-NeoX, Phi).   {q or k [batch, head, pos, d_head]} -> the same axes
struct Rope {
    double theta = 10000.0;
    Index columns = 0;  // an even number up to d_head
    bool interleaved = false;
    RopeScaling scaling = {};
    Index first = 0;  // the position of the first row

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Rope from_row(Index row) const { return {theta, columns, interleaved, scaling, first + row}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Rope&) const = default;

private:
    // The two columns of a pair.
    [[nodiscard]] std::pair<Index, Index> columns_of(Index pair) const {
        return interleaved ? std::pair{2 * pair, 2 * pair + 1} : std::pair{pair, pair + columns / 2};
    }
    [[nodiscard]] float angle_of(Index pos, Index pair) const;
};

}  // namespace decoderscope
