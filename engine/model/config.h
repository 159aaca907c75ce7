#pragma once

#include "engine/base/message.h"
#include "engine/ops/kinds.h"
#include "engine/tensor/tensor.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope {

enum class PositionalEncoding { none, sinusoidal, learned, rope };
// How a text's positions are counted if its inputs don't give them: each place counts, only what isn't padding, or
// each document of a row from 0.
enum class PositionRule { plain, from_mask, from_segments };
enum class ParallelResidual { none, one_norm, two_norms };
// Where a sublayer f has its norms: x + f(norm(x)), norm(x + f(x)), x + norm(f(norm(x))), x + norm(f(x)).
enum class NormPlacement { pre, post, peri, reordered };
// Whether an RMSNorm's row is rounded before the gain, as in Hugging Face's Llama, or after it, as in its Gemma.
enum class NormCast { before_gain, after_gain };
enum class DropoutSite { attention_scores, attention_weights, attention_out, mlp_post, mlp_out };

// "LayerNorm", "RMSNorm", or what stands in their place.
[[nodiscard]] Phrase name_of(NormKind kind);

// A decoder's configuration: the keys of the contract under their own names, defaults resolved.
struct Config {
    Index d_model = 0;
    Index nhead = 0;
    Index num_layers = 0;
    Index num_key_value_heads = 0;
    Index dim_feedforward = 0;
    bool norm_first = false;
    NormKind norm = NormKind::layernorm;
    bool norm_gain = true;
    double layer_norm_eps = 1e-5;
    bool final_norm = false;
    ActivationKind activation = ActivationKind::relu;
    bool gated_mlp = false;
    double swiglu_alpha = 1.702, swiglu_limit = 7.0;  // of swiglu_clamped
    bool bias = true;
    bool causal = true;
    bool cross_attention = false;
    Index encoder_layers = 0;
    Index vocab_size = 0;
    Index encoder_vocab_size = 0;
    PositionalEncoding positional_encoding = PositionalEncoding::none;
    Index max_positions = 0;
    PositionRule positions = PositionRule::plain;
    double rope_theta = 10000.0;
    double rope_local_theta = 0.0;   // of layers with a window, which no scaling changes; 0 = as elsewhere
    std::vector<Index> rope_layers;  // empty = all layers
    bool scale_embedding = false;
    double embedding_scale = 1.0;
    bool lm_head = false;
    bool tie_word_embeddings = false;
    float mask_value = -std::numeric_limits<float>::infinity();
    double dropout = 0.0;
    std::vector<DropoutSite> dropout_sites = {DropoutSite::attention_weights, DropoutSite::attention_out,
                                              DropoutSite::mlp_out};
    Index head_dim = 0;            // 0 = d_model / nhead
    double attention_scale = 0.0;  // 0 = 1 / √d_head
    double logit_scale = 1.0;
    double position_scale = 1.0;
    bool embedding_norm = false;
    bool rope_interleaved = false;
    Index rotary_dim = 0;  // 0 = all columns of a head
    RopeScalingKind rope_scaling = RopeScalingKind::none;
    double rope_factor = 1.0;
    double rope_low_freq_factor = 1.0, rope_high_freq_factor = 4.0;
    Index rope_original_positions = 0;                          // of the training before; not for linear
    double rope_beta_fast = 32.0, rope_beta_slow = 1.0;         // of yarn
    bool rope_truncate = true;                                  // of yarn
    double rope_attention_factor = 0.0;                         // of yarn and longrope; 0 = what they have by default
    std::vector<double> rope_short_factors, rope_long_factors;  // of longrope: one per pair of columns
    std::optional<NormPlacement> norm_placement;                // peri or reordered; otherwise what norm_first says
    double residual_scale = 1.0;
    double update_scale = 1.0;
    bool layer_scale = false;  // what a sublayer gives is multiplied by a gain
    ParallelResidual parallel_residual = ParallelResidual::none;
    bool qk_norm = false;
    bool qk_norm_across_heads = false;
    bool qk_norm_after_rope = false;
    bool qk_norm_centred = false;     // a LayerNorm, …
    bool qk_norm_bias = false;        // … and with a shift
    double qk_norm_eps = 0.0;         // 0 = layer_norm_eps
    double clip_qkv = 0.0;            // q, k and v lie within ± this; 0 = anywhere
    double query_scale_beta = 0.0;    // how queries grow with each …
    Index query_scale_positions = 0;  // … so many positions before them; 0 = not at all
    double attention_soft_cap = 0.0;  // 0 = none
    double logit_soft_cap = 0.0;
    Index sliding_window = 0;                  // 0 = all positions
    std::vector<Index> sliding_window_layers;  // empty = all layers
    bool alibi = false;
    bool alibi_scaled = false;                 // what ALiBi adds is multiplied by the attention's scale, too
    Index relative_attention_num_buckets = 0;  // rows of the table of biases by distance; 0 = none
    Index relative_attention_max_distance = 128;
    bool relative_attention_by_layer = false;  // each has a table of its own, not the first one's
    bool shared_qkv = false;
    bool attention_sinks = false;
    Index kv_lora_rank = 0;        // width of the row that keys and values are made from; 0 = no latent attention
    Index q_lora_rank = 0;         // of the row that queries are made from; 0 = projected at once
    Index qk_rope_head_dim = 0;    // how many of a key's columns all heads share and RoPE turns: the last ones
    Index v_head_dim = 0;          // 0 = d_head
    double latent_norm_eps = 0.0;  // of the latent rows' norms; 0 = layer_norm_eps
    Index experts = 0;             // 0 = dense MLPs
    Index experts_per_token = 0;
    Index expert_dim_feedforward = 0;  // 0 = dim_feedforward
    std::vector<Index> moe_layers;     // empty = all layers
    RouterKind router = RouterKind::softmax;
    double router_jitter = 0.01;  // of sparsemixer
    bool router_normalize = false;
    double router_scale = 1.0;
    Index router_groups = 1, router_top_groups = 1;
    Index router_group_best = 2;       // how many of a group's best scores add up to the group's score
    Index shared_dim_feedforward = 0;  // 0 = no dense MLP beside the experts
    bool shared_gate = false;
    Arithmetic arithmetic = Arithmetic::float32;  // what each step's result is rounded to
    NormCast norm_cast = NormCast::before_gain;
    bool router_float32 = false, logits_float32 = false;  // not rounded

    // Whether a norm's rows are rounded before they are multiplied by the gain. A LayerNorm is rounded once.
    [[nodiscard]] bool casts_before_gain(NormKind kind) const {
        const bool is_rms = kind == NormKind::rmsnorm || kind == NormKind::rmsnorm_plus_one;
        return is_rms && norm_cast == NormCast::before_gain;
    }
    [[nodiscard]] Index d_head() const { return head_dim > 0 ? head_dim : d_model / nhead; }
    // How many columns RoPE turns in each head.
    [[nodiscard]] Index rotary_columns() const {
        return is_latent() ? qk_rope_head_dim : rotary_dim > 0 ? rotary_dim : d_head();
    }
    // Whether self-attention is latent.
    // Whether norms multiply by 1 + their weight; not if they have none.
    [[nodiscard]] bool adds_one_to_gain() const { return is_plus_one(norm) && norm_gain; }
    // Whether anything depends on the numbers of the decoder's positions.
    [[nodiscard]] bool reads_positions() const {
        return positional_encoding != PositionalEncoding::none || alibi || sliding_window > 0 ||
               query_scale_beta != 0.0;
    }
    [[nodiscard]] bool is_latent() const { return kv_lora_rank > 0; }
    // How wide a head's values are in self-attention.
    [[nodiscard]] Index value_width() const { return is_latent() && v_head_dim > 0 ? v_head_dim : d_head(); }
    // Whether a layer's MLP is a mixture of experts, and how wide each of them is.
    [[nodiscard]] bool is_mixture(Index layer) const;
    [[nodiscard]] Index expert_width() const {
        return expert_dim_feedforward > 0 ? expert_dim_feedforward : dim_feedforward;
    }
    [[nodiscard]] NormPlacement placement() const {
        return norm_placement.value_or(norm_first ? NormPlacement::pre : NormPlacement::post);
    }
    // How many positions a layer's self-attention sees, back from the query's own and including it; 0 = all.
    [[nodiscard]] Index window_of(Index layer) const;
    // Whether a layer's self-attention turns queries and keys by their positions.
    [[nodiscard]] bool rotates(Index layer) const;
    bool operator==(const Config&) const = default;
};

// Configuration keys with their values as text, as `--set KEY=VALUE` and the window give them.
using Overrides = std::vector<std::pair<std::string, std::string>>;

// Reads a config.json with "model_type": "decoderscope" and applies the overrides to it. Throws Error naming the key
// and what was expected if a key is unknown, missing, of the wrong type or out of range.
[[nodiscard]] Config parse_config(std::string_view json, const Overrides& overrides = {});

// Sets keys as parse_config does, without checking that they go together. Throws Error as it does.
void set_keys(Config& config, const Overrides& overrides);

// The config.json from which parse_config reads the same configuration.
[[nodiscard]] std::string config_to_json(const Config& config);

// Every key in the contract's order, with its value in this configuration as `--set` would write it.
[[nodiscard]] Overrides config_values(const Config& config);
// What a key can be: all of its values, as `--set` writes them, or some of them if it has others.
struct ConfigKey {
    std::string name;
    std::vector<std::string> values;
    bool has_others = true;
    bool is_real = false;  // any number, not only whole ones
};
// Every key, in the same order.
[[nodiscard]] std::vector<ConfigKey> config_keys();
// The keys whose values are numbers, with "d_head", and "eps" for the norms'; a truth is 1 or 0, and mask_value may be
// −∞.
[[nodiscard]] std::map<std::string, double, std::less<>> config_numbers(const Config& config);

// What names and shapes don't determine and what changes the computation: a key of the contract's configuration, or of
// how the tensors are read (kNamingKeys).
struct Question {
    std::string key;
    std::string proposal;              // the default if there is no answer, as --set writes it
    std::vector<std::string> choices;  // empty: any number
    bool required = false;             // the proposal is a guess and needs confirmation
    Sentence why;                      // a few words: what it means, or where the proposal comes from
};

}  // namespace decoderscope
