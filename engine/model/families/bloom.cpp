// BLOOM (Le Scao et al. 2022): ALiBi, and a norm behind the embedding.
#include "engine/model/families/parts.h"
#include "engine/model/families/readers.h"

namespace decoderscope::families {

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

}  // namespace decoderscope::families
