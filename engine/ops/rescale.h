#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Every number times a factor of the configuration (Cohere's logit_scale, Granite's 1 / logits_scaling).
// {x} -> the same axes
struct Rescale {
    double factor = 1.0;
    std::string_view key;  // the configuration's name for it: "logit_scale"

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    // Elementwise: the output changes exactly where x changes, columns included.
    [[nodiscard]] Changed changed(const OperandsChange& change) const { return change.changed[0]; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Rescale&) const = default;
};

}  // namespace decoderscope
