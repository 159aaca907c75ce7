#pragma once

#include "engine/plan.h"

namespace decoderscope {

// A mistake as a decoder's author would describe it: in words what was meant, in numbers what is computed. Looking for
// a mistake, one must not find it by its name.
struct Disguised {
    Operation computed, meant;

    [[nodiscard]] About about() const { return meant.about(); }
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return computed.axes(in); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const { return computed.compute(in, axes); }
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const {
        return computed.explain(in, out, cell);
    }
    [[nodiscard]] Traits traits() const { return computed.traits(); }
    [[nodiscard]] MaskVerdict verdict(const Operands& in, const Cell& cell) const { return computed.verdict(in, cell); }
    [[nodiscard]] bool passes_gradient(std::size_t operand) const { return computed.passes_gradient(operand); }
    [[nodiscard]] About about_pull_back(std::size_t operand) const {
        return (meant.passes_gradient(operand) ? meant : computed).about_pull_back(operand);
    }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const {
        return computed.pull_back(operand, b);
    }
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const {
        return computed.explain_pull_back(operand, b, cell);
    }
    bool operator==(const Disguised&) const = default;
};

// Describes every step of `wrong` as the step of that name in `right`.
void disguise(Plan& wrong, const Plan& right);

}  // namespace decoderscope
