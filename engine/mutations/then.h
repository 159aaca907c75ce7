#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Two operations as one: the second reads the first's output as its first operand, then the operands that the first
// leaves over.   {the first's operands, the second's others} -> the second's axes
struct Then {
    Operation first, second;
    std::size_t read_by_first = 1;  // how many of the operands

    [[nodiscard]] About about() const { return second.about(); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] bool passes_gradient(std::size_t operand) const;
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Then&) const = default;

private:
    [[nodiscard]] Operands first_operands(const Operands& in) const;
    [[nodiscard]] Operands second_operands(const Operands& in, const Tensor& made) const;
    [[nodiscard]] Tensor between(const Operands& in) const;
    void place_of_second(Explanation& explanation) const;
};

}  // namespace decoderscope
