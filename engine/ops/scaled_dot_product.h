#pragma once

#include "engine/operation.h"

namespace decoderscope {

// How well each key matches each query: q · k / √d_head (Vaswani et al. 2017, equation 1). With fewer key heads than
// query heads (grouped-query attention, Ainslie et al. 2023) neighbouring query heads share one. {q [batch, head,
// query, d_head], k [batch, kv_head, key, d_head]} -> [batch, head, query, key]
struct ScaledDotProduct {
    double scale = 0.0;  // 0 = 1/√d_head

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] bool rows_stand_alone(const Operands& in) const;
    [[nodiscard]] Changed changed(const OperandsChange& change) const;
    bool operator==(const ScaledDotProduct&) const = default;

private:
    [[nodiscard]] double scale_for(Index d_head) const;
};

}  // namespace decoderscope
