#include "engine/load/families/readers.h"

#include <string>
#include <vector>

// GPT-2 (Radford et al. 2019) and GPT-Neo (Black et al. 2021): Pre-Norm, LayerNorm, a table of positions.
namespace decoderscope::load::families {

// transformers.GPT2Config; its matrices are Conv1D's.
void read_gpt2(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes({"n_embd", "hidden_size"}, {"n_head", "num_attention_heads"}, {"n_layer", "num_hidden_layers"});
    r.causal_lm(true);
    if (keys.has("n_inner")) r.config["dim_feedforward"] = keys.size("n_inner");
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = keys.activation("activation_function", "gelu_new");
    r.config["positional_encoding"] = "learned";
    r.config["max_positions"] = keys.size({"n_positions", "max_position_embeddings"}, 1024);
    r.config["dropout"] = keys.number("resid_pdrop", 0.1);
    keys.expect("scale_attn_weights", true, message("scores are always divided by √d_head"));
    keys.expect("scale_attn_by_inverse_layer_idx", false, message("scores are not scaled by the layer's number"));
    keys.ignore({"n_ctx", "reorder_and_upcast_attn"});
    r.family.in_out = true;
    biases(r, {.qkv = true, .out = true, .mlp = true, .norms = true});
}

namespace {

constexpr const char* kKinds = "global, local";  // not a message: the key's words

// attention_types: [[["global", "local"], 12]], each list repeated that many times; or attention_layers, the blocks one
// by one.
std::vector<std::string> attention_layers(FamilyKeys& keys, Index layers) {
    std::vector<std::string> kinds = keys.list("attention_layers"), repeated;
    const Sentence expected = message("lists of global and local, each with how often it is repeated");
    const OrderedJson types = keys.value("attention_types");
    if (!types.is_null() && !types.is_array()) keys.fail("attention_types", expected);
    for (const OrderedJson& type : types) {
        if (!type.is_array() || type.size() != 2 || !type[0].is_array() || !type[1].is_number_unsigned())
            keys.fail("attention_types", expected);
        for (Index i = 0; i < type[1].get<Index>() && static_cast<Index>(repeated.size()) <= layers; ++i)
            for (const OrderedJson& kind : type[0]) {
                if (kind != "global" && kind != "local") keys.fail("attention_types", expected);
                repeated.push_back(kind.get<std::string>());
            }
    }
    if (kinds.empty()) kinds = repeated;
    if (!repeated.empty() && kinds != repeated) keys.fail("attention_layers", message("what attention_types says"));
    const KeyNames key = repeated.empty() ? "attention_layers" : "attention_types";
    if (static_cast<Index>(kinds.size()) != layers)
        keys.fail(key, message("one for each of the {count} blocks", {{"count", layers}}));
    for (const std::string& kind : kinds)
        if (kind != "global" && kind != "local") keys.fail(key, message("one of {expected}", {{"expected", kKinds}}));
    return kinds;
}

}  // namespace

// transformers.GPTNeoConfig; scores are not divided, and every other block sees a window.
void read_gpt_neo(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", {"num_heads", "num_attention_heads"}, {"num_layers", "num_hidden_layers"});
    r.causal_lm(true);
    if (keys.has("intermediate_size")) r.config["dim_feedforward"] = keys.size("intermediate_size");
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = keys.activation("activation_function", "gelu_new");
    r.config["positional_encoding"] = "learned";
    r.config["max_positions"] = keys.size("max_position_embeddings", 2048);
    r.config["attention_scale"] = 1.0;
    const std::vector<std::string> kinds = attention_layers(keys, r.layers());
    sliding_window(r, keys.size("window_size", 256),
                   [&](Index layer) { return kinds[static_cast<std::size_t>(layer)] == "local"; });
    biases(r, {.out = true, .mlp = true, .norms = true});
}

// transformers.Starcoder2Config; RoPE and a window, an MLP without a gate, biases.
void read_starcoder2(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(true);
    r.key_value_heads_and_mlp();
    r.config["layer_norm_eps"] = keys.positive({"norm_epsilon", "layer_norm_epsilon"}, 1e-5);
    r.config["activation"] = keys.activation("hidden_act", "gelu_pytorch_tanh");
    keys.expect("mlp_type", "default", message("the MLP has no gate"));
    keys.expect("norm_type", "layer_norm", message("the norms are LayerNorms"));
    keys.ignore({"layer_norm_epsilon"});
    rope(r);
    sliding_window(r, keys.size("sliding_window", 0), [](Index) { return true; });
    const bool biased = keys.flag("use_bias", true);
    biases(r, {.qkv = biased, .out = biased, .mlp = biased, .norms = true});
}

// transformers.MptConfig (MosaicML 2023): ALiBi, LayerNorm, no biases.
void read_mpt(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("d_model", "n_heads", "n_layers");
    r.causal_lm(true);
    r.config["max_positions"] = keys.size("max_seq_len", 2048);
    r.config["dim_feedforward"] = keys.size("expansion_ratio", 4) * r.config["d_model"].get<Index>();
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = "gelu";
    FamilyKeys attention = keys.object("attn_config");
    r.config["alibi"] = true;
    attention.expect("alibi", true, message("positions are ALiBi's"));
    attention.expect("alibi_bias_max", 8, message("ALiBi's slopes end at 2^−8"));
    attention.expect("attn_type", "multihead_attention", message("each head has a key and a value"));
    attention.expect("prefix_lm", false, message("a query sees only what came before"));
    attention.expect("qk_ln", false, message("LayerNorms of q and k are not computed"));
    attention.expect("clip_qkv", nullptr, message("q, k and v are not clipped"));
    attention.expect("attn_uses_sequence_id", false, message("a row is one text"));
    if (attention.has("softmax_scale")) r.config["attention_scale"] = attention.positive("softmax_scale", 1.0);
    attention.ignore({"attn_impl", "attn_pdrop", "model_type"});
    attention.finish(r.family.model_type);
    keys.expect("logit_scale", nullptr, message("the logits are not scaled"));
    keys.expect("embedding_fraction", 1.0, message("the embedding is not scaled"));
    keys.expect("no_bias", true, message("this family's projections have no bias"));
    keys.ignore({"init_device", "learned_pos_emb", "norm_type", "verbose"});
    biases(r, {});
    r.family.names = {{"qkv_order", "one_by_one"}};
}

// OPT (Zhang et al. 2022): a table of positions that begins two rows before position 0.

// transformers.OPTConfig
void read_opt(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes("hidden_size", "num_attention_heads", "num_hidden_layers");
    r.causal_lm(true);
    const bool before = keys.flag("do_layer_norm_before", true);
    r.config["norm_first"] = before;
    r.config["final_norm"] = before && !keys.flag("_remove_final_layer_norm", false);
    r.config["dim_feedforward"] = keys.size("ffn_dim");
    r.config["activation"] = keys.activation("activation_function", "relu");
    r.config["positional_encoding"] = "learned";
    r.config["max_positions"] = keys.size("max_position_embeddings");
    r.config["dropout"] = keys.number("dropout", 0.1);
    keys.expect("word_embed_proj_dim", r.config["d_model"], message("the embedding is as wide as the residual stream"));
    keys.expect("layer_norm_elementwise_affine", true, message("norms have gains and biases"));
    const bool biased = keys.flag("enable_bias", true);
    biases(r, {.qkv = biased, .out = biased, .mlp = biased, .norms = true});
    r.family.names = {{"positions_from", "2"}};
}

// BLOOM (Le Scao et al. 2022): ALiBi, and a norm after the embedding.

// transformers.BloomConfig
void read_bloom(Reading& r) {
    FamilyKeys& keys = r.keys;
    r.sizes({"hidden_size", "n_embed", "n_embd"}, {"n_head", "num_attention_heads"}, {"n_layer", "num_hidden_layers"});
    r.causal_lm(true);
    r.config["layer_norm_eps"] = keys.positive("layer_norm_epsilon", 1e-5);
    r.config["activation"] = "gelu_tanh";
    r.config["embedding_norm"] = true;
    r.config["alibi"] = true;
    keys.expect("n_inner", 4 * r.config["d_model"].get<Index>(), message("the MLP is four times as wide"));
    keys.expect("apply_residual_connection_post_layernorm", false,
                message("the stream is added as it was before the norm"));
    keys.expect("skip_bias_add_qkv", false, message("q, k and v have biases"));
    keys.ignore({"attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion", "offset_alibi",
                 "seq_length", "skip_bias_add", "slow_but_exact"});
    biases(r, {.qkv = true, .out = true, .mlp = true, .norms = true});
    r.family.names = {{"qkv_order", "by_head"}, {"embedding_norm", "true"}};
}

}  // namespace decoderscope::load::families
