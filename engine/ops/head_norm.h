#pragma once

#include "engine/ops/formula.h"

#include <utility>
#include <vector>

namespace decoderscope::ops {

// RMSNorm of queries or keys before they meet (Henry et al. 2020), so that no score can run away: each head's row of
// d_head numbers by itself (Qwen 3), or all heads' numbers of a position together (OLMo 2). The gain is the weight, or
// 1 + weight (Gemma 3); without a weight it is 1 (norm_gain). Or a LayerNorm of each head's row (Dehghani et al. 2023).
// {q or k [batch, head, pos, d_head], weight [d_head], or [head·d_head] across heads?, a LayerNorm's shift [d_head]?}
// -> [batch, head, pos, d_head]
struct HeadNorm {
    double eps = 1e-5;
    bool across_heads = false;
    bool plus_one = false;
    bool centred = false;
    bool casts_before_gain = false;  // as Normalize's
    Arithmetic row_as = Arithmetic::float32;

    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] HeadNorm rounding_within(Arithmetic type) const {
        HeadNorm within = *this;
        if (casts_before_gain) within.row_as = type;
        return within;
    }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const HeadNorm&) const = default;

private:
    // The heads whose numbers count for the scale of this one: itself, or all.
    [[nodiscard]] std::pair<Index, Index> heads_with(Index head, Index heads) const {
        return across_heads ? std::pair<Index, Index>{0, heads} : std::pair{head, head + 1};
    }
    // √(mean of squares + eps), over the numbers that are normalised together, less `centre`.
    [[nodiscard]] double scale_of(const Tensor& x, Index batch, Index head, Index pos, double centre) const;
};

}  // namespace decoderscope::ops
