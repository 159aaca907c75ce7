#pragma once

#include "engine/operation.h"

namespace decoderscope {

// The fixed positional code of Vaswani et al. 2017, section 3.5 (the encoder-decoder tutorial, post-ln-encdec, section
// 4.3): sine in the even columns, cosine in the odd ones, wavelengths from 2π to 10000·2π. Angles are float32, as
// PyTorch computes them. Times `scale`.   {} -> [pos, d_model]
struct SinusoidalPositions {
    Axis positions;
    Index d_model = 0;
    Index first = 0;  // the number of the first position
    double scale = 1.0;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {positions, {axis::d_model, d_model}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SinusoidalPositions&) const = default;
};

// Rows of a learned table, one per position (GPT-2's wpe), times `scale`.
// {table [max_positions, d_model]} -> [pos, d_model]
struct LearnedPositions {
    Axis positions;
    Index first = 0;  // the number of the first position
    double scale = 1.0;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {positions, {axis::d_model, in[0][1].size}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const LearnedPositions&) const = default;
};

}  // namespace decoderscope
