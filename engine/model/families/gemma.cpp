// Gemma (Gemma Team 2024) and Gemma 2: RMSNorm with a gain of 1 + weight, a scaled embedding that is also the head.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

#include <cmath>
#include <string>

namespace decoderscope::families {

namespace {

// hidden_activation; where it is missing, hidden_act, and transformers has read "gelu" as gelu_pytorch_tanh in some
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

void gemma_like(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(true);
    r.config["num_key_value_heads"] = keys.size("num_key_value_heads", r.config["nhead"].get<Index>());
    r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["norm"] = "rmsnorm_plus_one";
    r.config["layer_norm_eps"] = keys.positive("rms_norm_eps", 1e-6);
    r.config["gated_mlp"] = true;
    r.config["scale_embedding"] = true;
    activation(r);
    head_dim(r, 256);
    rope(r);
    keys.expect("use_bidirectional_attention", false, message("a query sees only what came before"));
    const bool attention = keys.flag("attention_bias", false);
    biases(r, {.qkv = attention, .out = attention});
}

// A soft cap; none where it is null.
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

// transformers.Gemma2Config; norms before and behind each sublayer, every other block with a window.
void read_gemma2(Reading& r) {
    gemma_like(r);
    r.config.erase("norm_first");
    r.config["norm_placement"] = "peri";
    const double scalar = r.keys.positive("query_pre_attn_scalar", 256.0);
    r.config["attention_scale"] = 1.0 / std::sqrt(scalar);
    soft_cap(r, "attn_logit_softcapping", "attention_soft_cap", 50.0);
    soft_cap(r, "final_logit_softcapping", "logit_soft_cap", 30.0);
    const bool unlimited = r.keys.is_null("sliding_window");
    sliding_window(r, unlimited ? 0 : r.keys.size({"sliding_window", "sliding_window_size"}, 4096),
                   [](Index layer) { return layer % 2 == 0; });
}

}  // namespace decoderscope::families
