// StableLM and Cohere's Command R: Llama's parts with LayerNorm.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

namespace decoderscope::families {

namespace {

void with_layernorm(Reading& r, bool tied, const RopeDefaults& turned) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(tied);
    r.config["num_key_value_heads"] = keys.size("num_key_value_heads", r.config["nhead"].get<Index>());
    r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["layer_norm_eps"] = keys.positive("layer_norm_eps", 1e-5);
    r.config["activation"] = keys.activation("hidden_act", "silu");
    r.config["gated_mlp"] = true;
    head_dim(r);
    rope(r, turned);
    no_sliding_window(r);
}

}  // namespace

// transformers.StableLmConfig
void read_stablelm(Reading& r) {
    with_layernorm(r, false, {.part = 0.25});
    r.keys.expect("qk_layernorm", false, message("q and k are normalised head by head with gains of their own"));
    if (r.keys.flag("use_parallel_residual", false)) r.config["parallel_residual"] = "one_norm";
    biases(r, {.qkv = r.keys.flag("use_qkv_bias", false), .norms = true});
}

// transformers.CohereConfig; attention and MLP in one sum, logits scaled.
void read_cohere(Reading& r) {
    with_layernorm(r, true, {});
    r.keys.expect("use_qk_norm", false, message("LayerNorms of q and k are not computed"));
    r.config["rope_interleaved"] = true;
    r.config["parallel_residual"] = "one_norm";
    r.config["logit_scale"] = r.keys.number("logit_scale", 0.0625);
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

}  // namespace decoderscope::families
