#pragma once

#include "engine/graph/operation.h"

namespace decoderscope::mutations {

// Sines in the first half of the columns and cosines in the second, although they should alternate.
// {} -> [pos, d_model]
struct SinusoidInHalves {
    Axis positions;
    Index d_model = 0;
    double scale = 1.0;

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const { return {positions, {axis::d_model, d_model}}; }
    [[nodiscard]] static OperandRole role_of(std::size_t) { return OperandRole::input; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const SinusoidInHalves&) const = default;

private:
    [[nodiscard]] float code(Index position, Index column) const;
};

// Each token gets the row of another position: of its batch row's number (the code is indexed by the batch on
// batch-first input), or counted over the tokens that aren't padding.
// {x [batch, pos, d_model], positions [pos, d_model], padding [batch, pos]?} -> [batch, pos, d_model]
struct AddOtherPositions {
    bool by_batch = false;  // otherwise counted by the padding mask

    [[nodiscard]] OpDescription about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] static OperandRole role_of(std::size_t operand) {
        return role_in({OperandRole::stream, OperandRole::update, OperandRole::padding_mask}, operand);
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const AddOtherPositions&) const = default;

private:
    [[nodiscard]] Index row_for(const Operands& in, Index batch, Index pos) const;
};

}  // namespace decoderscope::mutations
