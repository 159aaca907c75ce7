#pragma once

#include "engine/operation.h"

namespace decoderscope {

// A parameter or an input: given, not computed.
struct Source {
    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes&) const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const Source&) const = default;
};

}  // namespace decoderscope
