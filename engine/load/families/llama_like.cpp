#include "engine/load/families/readers.h"

#include <algorithm>
#include <cmath>
#include <string>

// Llama (Touvron et al. 2023) and families like it: Pre-Norm with RMSNorm, RoPE, a gated MLP.
namespace decoderscope::load::families {

void llama_like(Reading& r, const LlamaDefaults& defaults, const RopeDefaults& turned) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(defaults.tied);
    r.key_value_heads_and_mlp();
    r.config["norm"] = "rmsnorm";
    r.config["layer_norm_eps"] = keys.positive("rms_norm_eps", defaults.eps);
    r.config["activation"] = keys.activation("hidden_act", "silu");
    r.config["gated_mlp"] = true;
    head_dim(r, defaults.head_dim);
    rope(r, turned);
}

namespace {

// The window of the blocks from max_window_layers on, if it is used at all.
void window_above(Reading& r) {
    r.keys.expect("use_mrope", false, message("each position is one number, not several"));
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
    r.keys.expect("rope_interleaved", false, message("RoPE rotates halves of a head"));
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

// transformers.Olmo2Config; norms after the sublayers, and of q and k over all heads.
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

// transformers.Olmo3Config; OLMo 2 with windows, in which RoPE is not scaled.
void read_olmo3(Reading& r) {
    llama_like(r, {.eps = 1e-5});
    r.config.erase("norm_first");
    r.config["norm_placement"] = "reordered";
    r.config["qk_norm"] = true;
    r.config["qk_norm_across_heads"] = true;
    sliding_window(r, r.keys.size("sliding_window", 4096), [](Index layer) { return (layer + 1) % 4 != 0; });
    if (r.config.contains("rope_scaling")) r.config["rope_local_theta"] = r.config["rope_theta"];
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

namespace {

// The layers that turn q and k. no_rope_layers has a number for each layer: 1 means *with* RoPE.
void rope_layers(Reading& r) {
    const Index layers = r.layers(), interval = r.keys.size("no_rope_layer_interval", 4);
    const OrderedJson said = r.keys.value("no_rope_layers");
    const bool fits = said.is_null() || (said.is_array() && static_cast<Index>(said.size()) == layers &&
                                         std::ranges::all_of(said, [](const OrderedJson& one) {
                                             return one.is_number_integer() && (one == 0 || one == 1);
                                         }));
    if (!fits) r.keys.fail("no_rope_layers", message("0 or 1 for each of the {count} blocks", {{"count", layers}}));
    OrderedJson turned = OrderedJson::array();
    for (Index layer = 0; layer < layers; ++layer) {
        const bool here = said.is_null() ? (layer + 1) % interval != 0 : said[static_cast<std::size_t>(layer)] == 1;
        if (here) turned.push_back(layer);
    }
    if (turned.empty()) r.config["positional_encoding"] = "none";
    if (!turned.empty() && static_cast<Index>(turned.size()) < layers) r.config["rope_layers"] = turned;
}

}  // namespace

// transformers.SmolLM3Config; some layers have no positions.
void read_smollm3(Reading& r) {
    llama_like(r, {.tied = true}, {.theta = 2000000.0});
    rope_layers(r);
    const bool used = r.keys.flag("use_sliding_window", false);
    const Index window = r.keys.size("sliding_window", 0);
    if (used && window == 0) r.keys.fail("sliding_window", message("a positive integer when use_sliding_window is on"));
    r.keys.ignore({"max_window_layers"});
    sliding_window(r, used ? window : 0, [](Index) { return true; });
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention, .mlp = r.keys.flag("mlp_bias", false)});
}

// transformers.GraniteConfig; four multipliers.
void read_granite(Reading& r) {
    llama_like(r);
    r.config["embedding_scale"] = r.keys.number("embedding_multiplier", 1.0);
    r.config["update_scale"] = r.keys.number("residual_multiplier", 1.0);
    r.config["attention_scale"] = r.keys.positive("attention_multiplier", 1.0);
    r.config["logit_scale"] = 1.0 / r.keys.positive("logits_scaling", 1.0);
    no_sliding_window(r);
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention, .mlp = r.keys.flag("mlp_bias", false)});
}

// StableLM and Cohere's Command R: Llama's parts with LayerNorm.

namespace {

void with_layernorm(Reading& r, bool tied, const RopeDefaults& turned) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(tied);
    r.key_value_heads_and_mlp();
    r.config["layer_norm_eps"] = keys.positive("layer_norm_eps", 1e-5);
    r.config["activation"] = keys.activation("hidden_act", "silu");
    r.config["gated_mlp"] = true;
    head_dim(r);
    rope(r, turned);
}

}  // namespace

// transformers.StableLmConfig
void read_stablelm(Reading& r) {
    with_layernorm(r, false, {.part = 0.25});
    no_sliding_window(r);
    r.keys.expect("qk_layernorm", false, message("q and k are normalised head by head with gains of their own"));
    if (r.keys.flag("use_parallel_residual", false)) r.config["parallel_residual"] = "one_norm";
    biases(r, {.qkv = r.keys.flag("use_qkv_bias", false), .norms = true});
}

// transformers.CohereConfig; attention and MLP in one sum, logits scaled.
void read_cohere(Reading& r) {
    with_layernorm(r, true, {});
    no_sliding_window(r);
    r.keys.expect("use_qk_norm", false, message("LayerNorms of q and k are not computed"));
    r.config["rope_interleaved"] = true;
    r.config["parallel_residual"] = "one_norm";
    r.config["logit_scale"] = r.keys.number("logit_scale", 0.0625);
    const bool attention = r.keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// transformers.Cohere2Config; RoPE only in layers with a window.
void read_cohere2(Reading& r) {
    FamilyKeys& keys = r.keys;
    with_layernorm(r, true, {});
    const Index every = keys.size({"sliding_window_pattern", "_sliding_window_pattern", "layer_switch"}, 4);
    sliding_window(r, keys.size("sliding_window", 4096), [&](Index layer) { return (layer + 1) % every != 0; });
    if (!r.config.contains("sliding_window"))
        r.config["positional_encoding"] = "none";
    else if (r.config.contains("sliding_window_layers"))
        r.config["rope_layers"] = r.config["sliding_window_layers"];
    keys.expect("order_of_interleaved_layers", "local_attn_first", message("layers with a window come first"));
    keys.expect("position_embedding_type", "rope_gptj", message("RoPE rotates neighbouring columns"));
    keys.expect("rotary_pct", 1.0, message("RoPE rotates all columns of a head"));
    keys.expect("use_embedding_sharing", true, message("the embedding is also the head"));
    keys.expect("use_gated_activation", true, message("the MLP has a gate"));
    keys.expect("use_parallel_block", true, message("attention and MLP are added in one sum"));
    keys.ignore({"use_parallel_embedding"});
    r.config["rope_interleaved"] = true;
    r.config["parallel_residual"] = "one_norm";
    r.config["logit_scale"] = keys.number("logit_scale", 0.0625);
    const bool attention = keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// Gemma (Gemma Team 2024) and Gemma 2: RMSNorm with a gain of 1 + weight, a scaled embedding that is also the head.

namespace {

// hidden_activation; if it is missing, hidden_act, and transformers has read "gelu" as gelu_pytorch_tanh in some
// versions.
void activation(Reading& r) {
    const bool first = r.keys.word("hidden_act", "gelu_pytorch_tanh") == "gelu" && !r.keys.has("hidden_activation");
    const std::string otherwise = r.keys.activation("hidden_act", "gelu_pytorch_tanh");
    r.config["activation"] = r.keys.has("hidden_activation") ? r.keys.activation("hidden_activation", "gelu")
                             : first                         ? "gelu_tanh"
                                                             : otherwise;
    if (first)
        r.family.questions.push_back({"activation",
                                      "gelu_tanh",
                                      {"gelu_tanh", "gelu"},
                                      false,
                                      message("hidden_act is gelu without a hidden_activation, which Gemma's first "
                                              "files mean as gelu_pytorch_tanh")});
}

void gemma_like(Reading& r, const RopeDefaults& turned = {}) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(true);
    r.key_value_heads_and_mlp();
    r.config["norm"] = "rmsnorm_plus_one";
    r.config["layer_norm_eps"] = keys.positive("rms_norm_eps", 1e-6);
    r.config["gated_mlp"] = true;
    r.config["scale_embedding"] = true;
    activation(r);
    head_dim(r, 256);
    rope(r, turned);
    keys.expect("use_bidirectional_attention", false, message("a query sees only what came before"));
    const bool attention = keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// A soft cap; none if it is null.
void soft_cap(Reading& r, const char* theirs, const char* ours, double otherwise) {
    const double cap = r.keys.is_null(theirs) ? 0.0 : r.keys.number(theirs, otherwise);
    if (cap > 0.0) r.config[ours] = cap;
}

}  // namespace

// transformers.GemmaConfig
void read_gemma(Reading& r) {
    gemma_like(r);
    no_sliding_window(r);
}

namespace {

// Norms before and after each sublayer; scores by a scale of their own.
void gemma_2_or_3(Reading& r) {
    r.config.erase("norm_first");
    r.config["norm_placement"] = "peri";
    const double scalar = r.keys.positive("query_pre_attn_scalar", 256.0);
    r.config["attention_scale"] = 1.0 / std::sqrt(scalar);
}

}  // namespace

// transformers.Gemma3TextConfig; five layers with a window and a base of their own to one without.
void read_gemma3(Reading& r) {
    gemma_like(r, {.theta = 1e6, .local_theta = 1e4});
    gemma_2_or_3(r);
    r.config["qk_norm"] = true;
    soft_cap(r, "attn_logit_softcapping", "attention_soft_cap", 0.0);
    soft_cap(r, "final_logit_softcapping", "logit_soft_cap", 0.0);
    const Index every = r.keys.size({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
    sliding_window(r, r.keys.size("sliding_window", 4096), [&](Index layer) { return (layer + 1) % every != 0; });
}

// transformers.Gemma3Config; its text half, whose defaults are those of the smallest model.
void read_gemma3_with_pictures(Reading& r) {
    FamilyKeys text = r.keys.configuration("text_config", {{"vocab_size", 262208},
                                                           {"hidden_size", 2304},
                                                           {"intermediate_size", 9216},
                                                           {"num_hidden_layers", 26},
                                                           {"num_attention_heads", 8},
                                                           {"num_key_value_heads", 4},
                                                           {"max_position_embeddings", 131072}});
    Reading half = {text, r.family};
    read_gemma3(half);
    text.finish(r.family.model_type);
    r.config = half.config;
    r.names_of_heads = half.names_of_heads;
    r.keys.expect("tie_word_embeddings", true, message("the embedding is also the head"));
    r.keys.ignore({"vision_config", "mm_tokens_per_image", "boi_token_index", "eoi_token_index", "image_token_index",
                   "boi_token_id", "eoi_token_id", "image_token_id"});
    for (const char* pictures : {"vision_tower.", "multi_modal_projector."})
        for (const char* above : {"", "model."}) r.family.unused_beginnings.push_back(std::string(above) + pictures);
}

// transformers.Gemma2Config; norms before and after each sublayer, every other block with a window.
void read_gemma2(Reading& r) {
    gemma_like(r);
    gemma_2_or_3(r);
    soft_cap(r, "attn_logit_softcapping", "attention_soft_cap", 50.0);
    soft_cap(r, "final_logit_softcapping", "logit_soft_cap", 30.0);
    const bool unlimited = r.keys.is_null("sliding_window");
    sliding_window(r, unlimited ? 0 : r.keys.size({"sliding_window", "sliding_window_size"}, 4096),
                   [](Index layer) { return layer % 2 == 0; });
}

}  // namespace decoderscope::load::families
