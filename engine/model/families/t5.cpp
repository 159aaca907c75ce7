// T5 (Raffel et al. 2020), T5 1.1 and FLAN-T5: a Pre-Norm encoder-decoder with RMSNorm and a learned bias by distance.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

#include <cmath>
#include <string>

namespace decoderscope::families {

namespace {

constexpr const char* kForms =
    "relu, gelu, silu, gated-gelu, gated-silu, gated-relu";  // not a message: the key's words

// "relu", "gated-gelu", …; gated-gelu means the tanh form.
void feed_forward(Reading& r) {
    FamilyKeys& keys = r.keys;
    const std::string kind = keys.word("feed_forward_proj", "relu");
    const bool gated = kind.starts_with("gated-");
    const std::string act = kind == "gated-gelu" ? "gelu_new" : gated ? kind.substr(6) : kind;
    if (act != "relu" && act != "gelu" && act != "gelu_new" && act != "silu")
        keys.fail("feed_forward_proj", message("one of {expected}", {{"expected", kForms}}));
    r.config["activation"] = act == "gelu_new" ? "gelu_tanh" : act;
    r.config["gated_mlp"] = gated;
    keys.expect("dense_act_fn", act, message("feed_forward_proj says it"));
    keys.expect("is_gated_act", gated, message("feed_forward_proj says it"));
}

}  // namespace

// transformers.T5Config
void read_t5(Reading& r) {
    FamilyKeys& keys = r.keys;
    const Index layers = keys.size({"num_layers", "num_hidden_layers"});
    r.sizes("d_model", "num_heads", "num_layers");
    r.causal_lm(true);
    r.config["num_layers"] = keys.size("num_decoder_layers", layers);
    r.config["encoder_layers"] = layers;
    r.config["cross_attention"] = true;
    r.config["head_dim"] = keys.size("d_kv", 64);
    r.config["dim_feedforward"] = keys.size("d_ff");
    r.config["norm"] = "rmsnorm";
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-6);
    r.config["attention_scale"] = 1.0;
    r.config["relative_attention_num_buckets"] = keys.size("relative_attention_num_buckets", 32);
    r.config["relative_attention_max_distance"] = keys.size("relative_attention_max_distance", 128);
    r.config["dropout"] = keys.number("dropout_rate", 0.1);
    if (keys.flag("scale_decoder_outputs", r.config["tie_word_embeddings"].get<bool>()))
        r.config["logit_scale"] = 1.0 / std::sqrt(r.config["d_model"].get<double>());
    feed_forward(r);
    keys.ignore({"n_positions", "hidden_size", "num_attention_heads"});
    biases(r, {});
    r.family.unused = {"EncDecAttention.relative_attention_bias.weight"};
}

}  // namespace decoderscope::families
