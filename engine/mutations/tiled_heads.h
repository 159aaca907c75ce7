#pragma once

#include "engine/operation.h"

namespace decoderscope {

// Grouped queries whose keys or values are repeated as a whole, torch.repeat in place of repeat_interleave: query head
// h reads head h mod kv_heads, where h / (heads / kv_heads) is meant.
// {q or pattern [batch, head, query, …], k or v [batch, kv_head, key, d_head]} -> what `right` makes of them
struct TiledHeads {
    Operation right;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return right.axes(in); }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    bool operator==(const TiledHeads&) const = default;
};

}  // namespace decoderscope
