#pragma once

namespace decoderscope {

// Which norm: LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019).
enum class NormKind { layernorm, rmsnorm };

// Which activation: gelu is exact, by erf; gelu_tanh is Hendrycks & Gimpel's approximation (2016).
enum class ActivationKind { relu, gelu, gelu_tanh, silu };

}  // namespace decoderscope
