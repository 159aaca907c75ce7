#pragma once

#include "engine/ops/kinds.h"
#include "engine/tensor.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope {

enum class PositionalEncoding { none, sinusoidal, learned, rope };
enum class ParallelResidual { none, one_norm, two_norms };
enum class DropoutSite { attention_scores, attention_weights, attention_out, mlp_post, mlp_out };

// A decoder's configuration: the keys of the contract under their own names, defaults resolved.
struct Config {
    Index d_model = 0;
    Index nhead = 0;
    Index num_layers = 0;
    Index num_key_value_heads = 0;
    Index dim_feedforward = 0;
    bool norm_first = false;
    NormKind norm = NormKind::layernorm;
    double layer_norm_eps = 1e-5;
    bool final_norm = false;
    ActivationKind activation = ActivationKind::relu;
    bool gated_mlp = false;
    bool bias = true;
    bool causal = true;
    bool cross_attention = false;
    Index encoder_layers = 0;
    Index vocab_size = 0;
    Index encoder_vocab_size = 0;
    PositionalEncoding positional_encoding = PositionalEncoding::none;
    Index max_positions = 0;
    double rope_theta = 10000.0;
    bool scale_embedding = false;
    bool lm_head = false;
    bool tie_word_embeddings = false;
    ParallelResidual parallel_residual = ParallelResidual::none;
    double attention_scale = 0.0;     // 0 = 1/√d_head
    double attention_soft_cap = 0.0;  // 0 = none
    double logit_soft_cap = 0.0;
    float mask_value = -std::numeric_limits<float>::infinity();
    double dropout = 0.0;
    std::vector<DropoutSite> dropout_sites = {DropoutSite::attention_weights, DropoutSite::attention_out,
                                              DropoutSite::mlp_out};
    bool shared_qkv = false;

    [[nodiscard]] Index d_head() const { return d_model / nhead; }
    bool operator==(const Config&) const = default;
};

// Configuration keys with their values as text, as `--set KEY=VALUE` and the window give them.
using Overrides = std::vector<std::pair<std::string, std::string>>;

// Reads a config.json with "model_type": "decoderscope" and applies the overrides to it. Throws Error naming the key
// and what was expected if a key is unknown, missing, of the wrong type or out of range.
[[nodiscard]] Config parse_config(std::string_view json, const Overrides& overrides = {});

// The config.json from which parse_config reads the same configuration.
[[nodiscard]] std::string config_to_json(const Config& config);

// Every key in the contract's order, with its value in this configuration as `--set` would write it.
[[nodiscard]] Overrides config_values(const Config& config);

}  // namespace decoderscope
