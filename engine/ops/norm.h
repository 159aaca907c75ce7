#pragma once

#include "engine/ops/formula.h"
#include "engine/ops/kinds.h"
#include "engine/tensor/row_math.h"
#include "engine/tensor/tensor.h"

#include <vector>

// The rows that norms read.   x [batch, pos, d]
namespace decoderscope::ops {

[[nodiscard]] inline row::In row_of(const Tensor& x, Index row) {
    const Index n = x.axes().back().size;
    return x.values().subspan(static_cast<std::size_t>(row * n), static_cast<std::size_t>(n));
}

// As above, for numbers to be written, rows of n.
[[nodiscard]] inline row::Out row_of(row::Out x, Index n, Index row) {
    return x.subspan(static_cast<std::size_t>(row * n), static_cast<std::size_t>(n));
}

// What the norm first subtracts from each value: the mean, or nothing under RMSNorm.
[[nodiscard]] inline double centre_of(row::In row, bool centred) {
    return centred ? row::sum(row) / static_cast<double>(row.size()) : 0.0;
}

// What a norm divides each row by: √(variance + eps) for LayerNorm (Ba et al. 2016; torch.nn.LayerNorm: the variance
// over n, not n − 1), √(mean of squares + eps) for RMSNorm (Zhang & Sennrich 2019), √(variance over n − 1) + eps for
// layernorm_std.   {x [batch, pos, d_model]} -> [batch, pos, 1]
struct NormScale {
    NormKind kind = NormKind::layernorm;
    double eps = 1e-5;

    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::one, 1}}; }
    [[nodiscard]] ByFormula formula() const {
        const bool std = kind == NormKind::layernorm_std;
        return {std                ? "layernorm_std_scale"
                : is_centred(kind) ? "layernorm_scale"
                                   : "rmsnorm_scale",
                {"x"},
                {{"eps", eps}}};
    }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative, .scale = facts()}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    // Compares what is computed: RMSNorm's scale is the same with a gain of 1 + weight.
    bool operator==(const NormScale& other) const { return facts() == other.facts(); }

private:
    // What (x − centre) is multiplied by in ∂scale/∂x, for a row of n numbers.
    [[nodiscard]] double slope_of_row(double scale, double n) const;
    [[nodiscard]] ScaleFacts facts() const {
        const bool std = kind == NormKind::layernorm_std;
        return {is_centred(kind), eps, std, std};
    }
};

// Each row less its mean (LayerNorm only), divided by its scale, times the gain, plus the shift, if any. The gain is
// the weight, or 1 + weight for a kind that is plus one; 1 without one (norm_gain).
// {x [batch, pos, d_model], scale [batch, pos, 1], gain [d_model]?, shift [d_model]?} -> [batch, pos, d_model]
struct Normalize {
    NormKind kind = NormKind::layernorm;
    bool has_gain = true;
    bool casts_before_gain = false;  // if the run rounds, each row is rounded before the gain, too
    Arithmetic row_as = Arithmetic::float32;

    [[nodiscard]] ByFormula formula() const;
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Normalize rounding_within(Arithmetic type) const {
        return {kind, has_gain, casts_before_gain, casts_before_gain ? type : Arithmetic::float32};
    }
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Traits traits() const { return {.norm = NormFacts{is_centred(kind), gain_offset()}}; }
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    bool operator==(const Normalize&) const = default;

private:
    [[nodiscard]] Tensor by_rows(const Backward& b) const;
    [[nodiscard]] Tensor by_scale(const Backward& b) const;
    [[nodiscard]] Tensor by_parameter(std::size_t operand, const Backward& b) const;
    // What each column is multiplied by: the gain, or 1 + it.
    struct Gains {
        std::vector<float> made;
        row::In values;
    };
    [[nodiscard]] Gains gains_of(const Operands& in) const;
    // The operand that is the shift, if it is there.
    [[nodiscard]] std::size_t shift_operand() const { return has_gain ? 3 : 2; }
    [[nodiscard]] float gain_offset() const { return is_plus_one(kind) ? 1.0F : 0.0F; }
};

// What stands in place of a norm: tanh(alpha · x) · gain + shift (Zhu et al. 2025, "Transformers without
// Normalization"). {x [batch, pos, d_model], alpha [1], gain [d_model]?, shift [d_model]?} -> [batch, pos, d_model]
struct DynamicTanh {
    bool has_gain = true;

    [[nodiscard]] ByFormula formula() const {
        return {"dynamic_tanh", {"x", {"alpha", OperandRole::gate}, has_gain ? "gain" : "shift", "shift"}};
    }
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    bool operator==(const DynamicTanh&) const = default;
};

}  // namespace decoderscope::ops
