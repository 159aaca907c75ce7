#pragma once

#include "engine/tensor/tensor.h"

// The gradients of y = x · Wᵀ + bias, for all operations that are Linears: rows of x and y stand for batch and
// position.
namespace decoderscope {

// ∂/∂x = grad · W             grad [rows, out], weight [out, in] -> [rows, in]
[[nodiscard]] Tensor gradient_by_rows(const float* grad, Index rows, const Tensor& weight, Axes axes);
// ∂/∂W = gradᵀ · x            grad [rows, out], x [rows, in] -> [out, in]
[[nodiscard]] Tensor gradient_by_weight(const float* grad, const float* x, Index rows, Axes axes);
// ∂/∂bias = Σ_rows grad       grad [rows, out] -> [out]
[[nodiscard]] Tensor gradient_by_bias(const float* grad, Index rows, Axes axes);

}  // namespace decoderscope
