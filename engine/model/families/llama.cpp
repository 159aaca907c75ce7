// Llama (Touvron et al. 2023) and families like it: Pre-Norm with RMSNorm, RoPE, a gated MLP.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

namespace decoderscope::families {

namespace {

struct Defaults {
    double eps = 1e-6;
    bool tied = false;
    Index head_dim = 0;
};

void llama_like(Reading& r, const Defaults& defaults = {}, const RopeDefaults& turned = {}) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(defaults.tied);
    r.config["num_key_value_heads"] = keys.size("num_key_value_heads", r.config["nhead"].get<Index>());
    r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["norm"] = "rmsnorm";
    r.config["layer_norm_eps"] = keys.positive("rms_norm_eps", defaults.eps);
    r.config["activation"] = keys.activation("hidden_act", "silu");
    r.config["gated_mlp"] = true;
    head_dim(r, defaults.head_dim);
    rope(r, turned);
}

// The window of the blocks from max_window_layers on, where it is used at all.
void window_above(Reading& r) {
    r.keys.expect("use_mrope", false, message("positions are numbers, not several at once"));
    const bool used = r.keys.flag("use_sliding_window", false);
    const Index window = r.keys.is_null("sliding_window") ? 0 : r.keys.size("sliding_window", 4096);
    const Index first = static_cast<Index>(r.keys.number("max_window_layers", 28));
    sliding_window(r, used ? window : 0, [&](Index layer) { return layer >= first; });
}

}  // namespace

// transformers.LlamaConfig
void read_llama(Reading& r) {
    llama_like(r);
    no_sliding_window(r);
    r.keys.expect("rope_interleaved", false, message("RoPE turns halves of a head"));
    r.keys.ignore({"is_llama_config", "max_sequence_length"});
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention, .mlp = r.keys.flag("mlp_bias", false)});
}

// transformers.MistralConfig
void read_mistral(Reading& r) {
    llama_like(r);
    const bool unlimited = r.keys.is_null("sliding_window");
    sliding_window(r, unlimited ? 0 : r.keys.size("sliding_window", 4096), [](Index) { return true; });
    biases(r, {});
}

// transformers.Qwen2Config; q, k and v have biases.
void read_qwen2(Reading& r) {
    llama_like(r);
    window_above(r);
    biases(r, {.qkv = true});
}

// transformers.Qwen3Config; q and k are normalised head by head.
void read_qwen3(Reading& r) {
    llama_like(r, {.head_dim = 128});
    window_above(r);
    r.config["qk_norm"] = true;
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// transformers.Olmo2Config; norms behind the sublayers, and of q and k over all heads.
void read_olmo2(Reading& r) {
    llama_like(r, {.eps = 1e-5});
    no_sliding_window(r);
    r.config.erase("norm_first");
    r.config["norm_placement"] = "reordered";
    r.config["qk_norm"] = true;
    r.config["qk_norm_across_heads"] = true;
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// transformers.Phi3Config; q, k and v in one matrix, gate and up in another.
void read_phi3(Reading& r) {
    llama_like(r, {.eps = 1e-5});
    sliding_window(r, r.keys.size("sliding_window", 0), [](Index) { return true; });
    r.keys.expect("attention_bias", false, message("this family's projections have no bias"));
    r.keys.ignore({"original_max_position_embeddings"});
    biases(r, {});
    r.family.names = {{"qkv_order", "one_by_one"}, {"gate_proj", "first"}};
}

}  // namespace decoderscope::families
