// OPT (Zhang et al. 2022): a table of positions that begins two rows before position 0.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

namespace decoderscope::families {

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
    keys.expect("word_embed_proj_dim", r.config["d_model"], message("the embedding is as wide as the stream"));
    keys.expect("layer_norm_elementwise_affine", true, message("norms have gains and biases"));
    const bool biased = keys.flag("enable_bias", true);
    biases(r, {.qkv = biased, .out = biased, .mlp = biased, .norms = true});
    r.family.names = {{"positions_from", "2"}};
}

}  // namespace decoderscope::families
