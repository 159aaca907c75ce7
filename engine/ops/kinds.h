#pragma once

#include <string_view>

namespace decoderscope {

// The kind of norm: LayerNorm (Ba et al. 2016) or RMSNorm (Zhang & Sennrich 2019); layernorm_std divides by the
// unbiased standard deviation plus eps, as the Annotated Transformer writes it; rmsnorm_plus_one multiplies by 1 +
// weight (Gemma), layernorm_plus_one as well (Nemotron); dynamic_tanh stands in a norm's place and measures nothing of
// the row (Zhu et al. 2025).
enum class NormKind { layernorm, rmsnorm, layernorm_std, rmsnorm_plus_one, dynamic_tanh, layernorm_plus_one };

// Whether it subtracts the mean, as every LayerNorm does.
[[nodiscard]] constexpr bool is_centred(NormKind kind) {
    return kind == NormKind::layernorm || kind == NormKind::layernorm_std || kind == NormKind::layernorm_plus_one;
}

// Whether it multiplies by 1 + its weight.
[[nodiscard]] constexpr bool is_plus_one(NormKind kind) {
    return kind == NormKind::rmsnorm_plus_one || kind == NormKind::layernorm_plus_one;
}

// How RoPE's frequencies are lowered for texts longer than those of the training: all by one factor, only the slow ones
// (Llama 3, YaRN), or each by a divisor of its own (LongRoPE).
enum class RopeScalingKind { none, linear, llama3, yarn, longrope };

// An activation by its name: a function of one number in the book of formulas (engine/formulas/book.txt),
// swiglu_clamped (gpt-oss), which is gate and product in one, ops::ClampedSwiglu, or xielu (Apertus), which has learned
// numbers, ops::Xielu.
struct ActivationKind {
    std::string_view name;  // lives as long as the program
    bool operator==(const ActivationKind&) const = default;

    static const ActivationKind relu, gelu, gelu_tanh, silu, swiglu_clamped, xielu;
};
inline constexpr ActivationKind ActivationKind::relu{"relu"};
inline constexpr ActivationKind ActivationKind::gelu{"gelu"};
inline constexpr ActivationKind ActivationKind::gelu_tanh{"gelu_tanh"};
inline constexpr ActivationKind ActivationKind::silu{"silu"};
inline constexpr ActivationKind ActivationKind::swiglu_clamped{"swiglu_clamped"};
inline constexpr ActivationKind ActivationKind::xielu{"xielu"};

// How a router turns its logits into scores: over all experts at once, or each by itself; or not at all, and what is
// chosen is weighed among those that nearly tie with it (Phi-3.5-MoE).
enum class RouterKind { softmax, sigmoid, sparsemixer };

// A target that is ignored in the loss, like torch.nn.CrossEntropyLoss's ignore_index.
inline constexpr float kIgnoredTarget = -100.0F;

}  // namespace decoderscope
