#pragma once

#include "engine/operation.h"
#include "engine/ops/kinds.h"

namespace decoderscope {

// What a norm divides each row by: √(variance + eps) for LayerNorm (Ba et al. 2016; torch.nn.LayerNorm: the variance
// over n, not n − 1), √(mean of squares + eps) for RMSNorm (Zhang & Sennrich 2019), √(variance over n − 1) + eps for
// layernorm_std.   {x [batch, pos, d_model]} -> [batch, pos, 1]
struct NormScale {
    NormKind kind = NormKind::layernorm;
    double eps = 1e-5;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return {in[0][0], in[0][1], {axis::one, 1}}; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true}}; }
    [[nodiscard]] Traits traits() const { return {.values = Values::non_negative, .scale = facts()}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const NormScale&) const = default;

private:
    // What (x − centre) is multiplied by in ∂scale/∂x of a row of n numbers.
    [[nodiscard]] double slope_of_row(double scale, double n) const;
    [[nodiscard]] ScaleFacts facts() const {
        const bool std = kind == NormKind::layernorm_std;
        return {is_centred(kind), eps, std, std};
    }
};

// Each row less its mean (LayerNorm only), divided by its scale, times the gain, plus the shift, if any. The gain is
// the weight, or 1 + weight for rmsnorm_plus_one.
// {x [batch, pos, d_model], scale [batch, pos, 1], gain [d_model], shift [d_model]?} -> [batch, pos, d_model]
struct Normalize {
    NormKind kind = NormKind::layernorm;

    [[nodiscard]] About about() const;
    [[nodiscard]] Axes axes(const OperandAxes& in) const { return in[0]; }
    [[nodiscard]] Tensor compute(const Operands& in, const Axes& axes) const;
    [[nodiscard]] Explanation explain(const Operands& in, const Tensor& out, const Cell& cell) const;
    [[nodiscard]] ByRow by_row() const { return {{true, true}}; }
    [[nodiscard]] Traits traits() const { return {.norm = NormFacts{is_centred(kind), gain_offset()}}; }
    [[nodiscard]] About about_pull_back(std::size_t operand) const;
    [[nodiscard]] Tensor pull_back(std::size_t operand, const Backward& b) const;
    [[nodiscard]] Explanation explain_pull_back(std::size_t operand, const Backward& b, const Cell& cell) const;
    bool operator==(const Normalize&) const = default;

private:
    [[nodiscard]] Tensor by_rows(const Backward& b) const;
    [[nodiscard]] Tensor by_scale(const Backward& b) const;
    [[nodiscard]] Tensor by_parameter(bool gain, const Backward& b) const;
    [[nodiscard]] float gain_offset() const { return kind == NormKind::rmsnorm_plus_one ? 1.0F : 0.0F; }
};

}  // namespace decoderscope
