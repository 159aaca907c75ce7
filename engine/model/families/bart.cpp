// BART (Lewis et al. 2020) and Marian (Junczys-Dowmunt et al. 2018): Post-Norm encoder-decoders whose tied head may
// have a bias, final_logits_bias.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

namespace decoderscope::families {

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
    keys.expect("normalize_before", false, message("norms stand behind the sublayers"));
    keys.expect("add_final_layer_norm", false, message("no norm stands behind the last block"));
    keys.ignore({"num_hidden_layers", "num_attention_heads", "hidden_size", "add_bias_logits"});
    biases(r, {.qkv = true, .out = true, .mlp = true, .head = true, .norms = true});
}

}  // namespace

// transformers.BartConfig; the table of positions begins two rows before position 0.
void read_bart(Reading& r) {
    both_sides(r);
    r.config["embedding_norm"] = true;
    r.keys.expect("normalize_embedding", true, message("a norm stands behind the embedding"));
    r.keys.expect("static_position_embeddings", false, message("positions are learned"));
    r.keys.expect("extra_pos_embeddings", 2, message("two rows come before that of position 0"));
    r.family.names = {{"positions_from", "2"}, {"embedding_norm", "true"}};
}

// transformers.MarianConfig; sines and cosines as a table, which most files leave out.
void read_marian(Reading& r) {
    both_sides(r);
    r.config["encoder_vocab_size"] = r.config["vocab_size"];
    r.config["vocab_size"] = r.keys.size("decoder_vocab_size", r.config["vocab_size"].get<Index>());
    r.keys.expect("normalize_embedding", false, message("no norm stands behind the embedding"));
    r.keys.expect("static_position_embeddings", true, message("positions are sines and cosines"));
    r.keys.ignore({"share_encoder_decoder_embeddings", "extra_pos_embeddings"});
    r.family.makes_positions = true;
}

}  // namespace decoderscope::families
