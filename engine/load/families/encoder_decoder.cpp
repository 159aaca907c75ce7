#include "engine/load/families/readers.h"

#include <cmath>
#include <string>

// BART (Lewis et al. 2020) and Marian (Junczys-Dowmunt et al. 2018): Post-Norm encoder-decoders whose tied head may
// have a bias, final_logits_bias.
namespace decoderscope::load::families {

namespace {

// Encoder and decoder may differ in how many blocks they have, not in how wide these are.
void both_sides(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("d_model", "decoder_attention_heads", "decoder_layers");
    r.causal_lm(true);
    r.config["norm_first"] = false;
    r.config["final_norm"] = false;
    r.config["cross_attention"] = true;
    r.config["encoder_layers"] = keys.size("encoder_layers");
    r.config["dim_feedforward"] = keys.size("decoder_ffn_dim");
    keys.expect("encoder_attention_heads", r.config["nhead"], message("encoder and decoder have as many heads"));
    keys.expect("encoder_ffn_dim", r.config["dim_feedforward"], message("encoder's and decoder's MLPs are as wide"));
    r.config["activation"] = keys.activation("activation_function", "gelu");
    r.config["scale_embedding"] = keys.flag("scale_embedding", false);
    r.config["positional_encoding"] = "learned";
    r.config["max_positions"] = keys.size("max_position_embeddings");
    r.config["dropout"] = keys.number("dropout", 0.1);
    keys.expect("normalize_before", false, message("norms come after the sublayers"));
    keys.expect("add_final_layer_norm", false, message("there is no norm after the last block"));
    keys.ignore({"num_hidden_layers", "num_attention_heads", "hidden_size", "add_bias_logits"});
    biases(r, {.qkv = true, .out = true, .mlp = true, .head = true, .norms = true});
}

}  // namespace

// transformers.BartConfig; the table of positions begins two rows before position 0.
void read_bart(Reading& r) {
    both_sides(r);
    r.config["embedding_norm"] = true;
    r.keys.expect("normalize_embedding", true, message("there is a norm after the embedding"));
    r.keys.expect("static_position_embeddings", false, message("positions are learned"));
    r.keys.expect("extra_pos_embeddings", 2, message("two rows come before that of position 0"));
    r.family.names = {{"positions_from", "2"}, {"embedding_norm", "true"}};
}

// transformers.MarianConfig; sines and cosines as a table, which most files leave out.
void read_marian(Reading& r) {
    both_sides(r);
    r.config["encoder_vocab_size"] = r.config["vocab_size"];
    r.config["vocab_size"] = r.keys.size("decoder_vocab_size", r.config["vocab_size"].get<Index>());
    r.keys.expect("normalize_embedding", false, message("there is no norm after the embedding"));
    r.keys.expect("static_position_embeddings", true, message("positions are sines and cosines"));
    r.keys.ignore({"share_encoder_decoder_embeddings", "extra_pos_embeddings"});
    r.family.makes_positions = true;
}

// T5 (Raffel et al. 2020), T5 1.1 and FLAN-T5: a Pre-Norm encoder-decoder with RMSNorm and a learned bias by distance.

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
    keys.expect("dense_act_fn", act, message("feed_forward_proj implies it"));
    keys.expect("is_gated_act", gated, message("feed_forward_proj implies it"));
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

}  // namespace decoderscope::load::families
