// GPT-J (Wang & Komatsuzaki 2021), GPT-NeoX with Pythia (Black et al. 2022), Phi (Gunasekar et al. 2023): LayerNorm,
// RoPE on some columns, attention and MLP in one sum.
#include "engine/load/families/readers.h"

namespace decoderscope::load::families {

// transformers.GPTJConfig
void read_gptj(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes({"n_embd", "hidden_size"}, {"n_head", "num_attention_heads"}, {"n_layer", "num_hidden_layers"});
    r.causal_lm(false);
    if (keys.has("n_inner")) r.config["dim_feedforward"] = keys.size("n_inner");
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = keys.activation("activation_function", "gelu_new");
    r.config["positional_encoding"] = "rope";
    r.config["max_positions"] = keys.size({"n_positions", "max_position_embeddings"}, 2048);
    if (keys.is_null("rotary_dim")) keys.fail("rotary_dim", message("a positive integer"));
    const Index head = r.config["d_model"].get<Index>() / r.config["nhead"].get<Index>();
    const Index turned = keys.size("rotary_dim", 64);
    if (turned != head) r.config["rotary_dim"] = turned;
    r.config["rope_interleaved"] = true;
    r.config["parallel_residual"] = "one_norm";
    keys.expect("rotary", true, message("positions are rotary"));
    keys.expect("scale_attn_weights", true, message("scores are always divided by √d_head"));
    keys.ignore({"n_ctx"});
    biases(r, {.mlp = true, .head = true, .norms = true});
}

// transformers.GPTNeoXConfig
void read_gpt_neox(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(false);
    r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["layer_norm_eps"] = keys.positive("layer_norm_eps", 1e-5);
    r.config["activation"] = keys.activation("hidden_act", "gelu");
    rope(r, {.part = 0.25}, {"rotary_emb_base", "rope_theta"}, {"rotary_pct", "partial_rotary_factor"});
    if (keys.flag("use_parallel_residual", true)) r.config["parallel_residual"] = "two_norms";
    const bool attention = keys.flag("attention_bias", true);
    biases(r, {.qkv = attention, .out = attention, .mlp = true, .norms = true});
    r.family.names = {{"qkv_order", "by_head"}};
}

// transformers.PhiConfig
void read_phi(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(false);
    r.key_value_heads_and_mlp();
    r.config["layer_norm_eps"] = keys.positive("layer_norm_eps", 1e-5);
    r.config["activation"] = keys.activation("hidden_act", "gelu_new");
    r.config["parallel_residual"] = "one_norm";
    head_dim(r);
    rope(r, {.part = 0.5});
    keys.expect("qk_layernorm", false, message("LayerNorms of q and k are not computed"));
    biases(r, {.qkv = true, .out = true, .mlp = true, .head = true, .norms = true});
}

// transformers.FalconConfig; one key and value for all heads, or some, in one matrix group by group.
void read_falcon(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", {"num_attention_heads", "n_head"}, {"num_hidden_layers", "n_layer"});
    r.causal_lm(true);
    const bool later = keys.flag("new_decoder_architecture", false), multi_query = keys.flag("multi_query", true);
    const bool parallel = keys.flag("parallel_attn", true) || later;
    const auto heads = r.config["nhead"].get<Index>();
    const Index given = keys.size({"num_kv_heads", "n_head_kv"}, heads),
                norms = keys.size("num_ln_in_parallel_attn", 2);
    r.config["num_key_value_heads"] = later ? given : multi_query ? 1 : heads;
    r.config["dim_feedforward"] = keys.size("ffn_hidden_size", 4 * r.config["d_model"].get<Index>());
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = keys.activation("activation", "gelu");
    if (parallel) r.config["parallel_residual"] = later && norms == 2 ? "two_norms" : "one_norm";
    rope(r);
    keys.expect("alibi", false, message("this family divides ALiBi's bias by √d_head, too"));
    keys.expect("apply_residual_connection_post_layernorm", false,
                message("the stream is added as it was before the norm"));
    const bool biased = keys.flag("bias", false);
    biases(r, {.qkv = biased, .out = biased, .mlp = biased, .norms = true});
    r.family.names = {{"qkv_order", later || multi_query ? "by_group" : "by_head"}};
}

}  // namespace decoderscope::load::families
