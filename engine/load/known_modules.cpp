#include "engine/load/known_modules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace decoderscope::load {

namespace {

KnownModule gpt(Sentence name, const char* activation) {
    return {.name = std::move(name), .norm_first = true, .activation = activation, .tied_head = true};
}

// Whether GPT-2's weights are Conv1D's, [in, out]: shown by c_attn, which is three times as long along one axis.
bool has_conv1d(const names::Shapes& stored) {
    return std::ranges::any_of(stored, [](const auto& entry) {
        const auto& [name, shape] = entry;
        return name.ends_with("c_attn.weight") && shape.size() == 2 && shape[1] / 3 == shape[0] && shape[1] % 3 == 0;
    });
}

KnownModule llama_release(Sentence name) {
    return {.name = std::move(name),
            .norm_first = true,
            .activation = "silu",
            .norm = "rmsnorm",
            .positions = "rope",
            .tied_head = true,
            .interleaved = true,
            .settled_scale = true};
}

// Encoder-decoders of tutorials and repositories, by a pair of names that only they have.
bool known_translator(const names::Shapes& stored, KnownModule& module) {
    const auto has = [&](std::string_view part) { return names::any_name_holds(stored, part); };
    if (has("linears.") && has(".a_2"))
        module = {.name = message("the Annotated Transformer"),
                  .norm_first = true,
                  .eps = "1e-06",
                  .norm = "layernorm_std",
                  .positions = "sinusoidal",
                  .mask = "-1e9",
                  .scaled_embedding = true};
    else if (has("residual_connections.") && has("attention_block"))
        module = {.name = message("hkproj's Transformer"),
                  .norm_first = true,
                  .eps = "1e-06",
                  .norm = "layernorm_std",
                  .positions = "sinusoidal",
                  .mask = "-1e9",
                  .scaled_embedding = true};
    else if (has("w_concat."))
        module = {
            .name = message("hyunwoongko's Transformer"), .eps = "1e-12", .positions = "sinusoidal", .mask = "-1e4"};
    else if (has("slf_attn.") && has("pos_ffn."))
        module = {.name = message("jadore801120's Transformer"),
                  .eps = "1e-06",
                  .positions = "sinusoidal",
                  .mask = "-1e9",
                  .tied_head = true,
                  .scaled_logits = true};
    else if (has("src_tok_emb.") && has("in_proj_weight"))
        module = {.name = message("PyTorch's translation tutorial"), .scaled_embedding = true, .settled_scale = true};
    else if (has("transformer_block.") && has("attention.queries."))
        module = {.name = message("Transformer from scratch"), .mask = "-1e20", .scores_by_width = true};
    else if (has("self_attention.fc_q."))
        module = {.name = message("bentrevett's Transformer"), .mask = "-1e10", .scaled_embedding = true};
    else if (has("blks.block0.") && has("addnorm1."))
        module = {.name = message("Dive into Deep Learning's Transformer"),
                  .positions = "sinusoidal",
                  .mask = "-1e6",
                  .scaled_embedding = true};
    else
        return false;
    return true;
}

bool known_gpt(const names::Shapes& stored, const StateDict& dict, KnownModule& module) {
    const auto has = [&](std::string_view part) { return names::any_name_holds(stored, part); };
    if (has(".attn.c_q.") && has(".mlp.c_fc.") && !has("norm") && !has("ln_"))
        module = {.name = message("nanochat or modded-nanoGPT"),
                  .norm_first = true,
                  .activation = "relu2",
                  .eps = "1.1920928955078125e-07",
                  .norm = "rmsnorm",
                  .positions = "rope",
                  .logit_cap = "15"};
    else if (has(".c_attn.") && has_conv1d(stored))
        module = gpt(message("Hugging Face GPT-2"), "gelu_tanh");
    else if (has(".c_attn."))
        module = gpt(message("minGPT or nanoGPT"), "gelu");
    else if (has(".W_Q") && has(".W_E"))
        module = gpt(message("TransformerLens' HookedTransformer"), "gelu_tanh");
    else if (has("attn_layers.layers."))
        module = {.name = message("x-transformers' TransformerWrapper"),
                  .norm_first = true,
                  .activation = "gelu",
                  .scaled_positions = true};
    else if (dict.heads > 0 && has("heads."))
        module = {.name = message("a GPT with one matrix per head"), .norm_first = true};
    else if (has("trf_blocks.") && has(".fc3."))
        module = {.name = message("a Llama as in LLMs-from-scratch"),
                  .norm_first = true,
                  .activation = "silu",
                  .norm = "rmsnorm",
                  .positions = "rope"};
    else if (has("trf_blocks."))
        module = gpt(message("LLMs-from-scratch's GPT"), "gelu_tanh");
    else if (has("attention.wqkv.") && has("feed_forward.w1."))
        module = llama_release(message("gpt-fast"));
    else if (has("attention.wq.") && has("feed_forward.w1."))
        module = llama_release(message("a Llama of Meta's release, or llama2.c"));
    else
        return false;
    if (module.norm_first && !has("attn_layers.") && !has("heads.")) module.settled_scale = true;
    return true;
}

// Hugging Face's families whose config.json is not there, by names that only they have.
bool known_family(const names::Shapes& stored, const StateDict& dict, KnownModule& module) {
    const auto has = [&](std::string_view part) { return names::any_name_holds(stored, part); };
    if (dict.shapes.contains("relative_bias.weight"))
        module = {.name = message("T5"),
                  .norm_first = true,
                  .activation = dict.shapes.contains("layers.0.gate_proj.weight") ? "gelu_tanh" : "relu",
                  .eps = "1e-06",
                  .norm = "rmsnorm",
                  .tied_head = true,
                  .scaled_logits = !dict.shapes.contains("lm_head.weight"),
                  .unscaled_scores = true};
    else if (has("query_key_value.") && has("embed_in."))
        module = {.name = message("GPT-NeoX"),
                  .norm_first = true,
                  .activation = "gelu",
                  .positions = "rope",
                  .settled_scale = true,
                  .partly_rotary = true,
                  .may_be_parallel = true};
    else if (has("word_embeddings_layernorm."))
        module = {.name = message("BLOOM"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .tied_head = true,
                  .settled_scale = true,
                  .alibi = true};
    else if (has("attn.attention.q_proj."))
        module = {.name = message("GPT-Neo"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .tied_head = true,
                  .unscaled_scores = true,
                  .may_have_window = true};
    else if (has("mlp.fc_in.") && has("attn.q_proj."))
        module = {.name = message("GPT-J"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .positions = "rope",
                  .interleaved = true,
                  .settled_scale = true,
                  .partly_rotary = true};
    else if (has("self_attn.dense.") && has("mlp.fc1."))
        module = {.name = message("Phi"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .positions = "rope",
                  .settled_scale = true,
                  .partly_rotary = true};
    else if (has("encoder_attn.") && has("self_attn_layer_norm."))
        module = {.name = message("BART or Marian"),
                  .activation = has("layernorm_embedding.") ? "gelu" : "silu",
                  .tied_head = true,
                  .scaled_embedding = !has("layernorm_embedding."),
                  .settled_scale = true,
                  .makes_positions = true};
    else if (has("embed_positions.") && has("self_attn_layer_norm."))
        module = {.name = message("OPT"),
                  .norm_first = dict.shapes.contains("norm.weight"),
                  .tied_head = true,
                  .settled_scale = true};
    else if (has("word_embeddings.") && has("self_attention.query_key_value."))
        module = {.name = message("Falcon"),
                  .norm_first = true,
                  .activation = "gelu",
                  .positions = "rope",
                  .tied_head = true,
                  .settled_scale = true,
                  .may_be_parallel = true};
    else if (has("norm_f.") && has("attn.Wqkv."))
        module = {.name = message("MPT"), .norm_first = true, .activation = "gelu", .tied_head = true, .alibi = true};
    else if (has("embed_tokens.") && has("pre_feedforward_layernorm.") && has("q_norm."))
        module = {.name = message("Gemma 3"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .eps = "1e-06",
                  .norm = "rmsnorm_plus_one",
                  .positions = "rope",
                  .tied_head = true,
                  .scaled_embedding = true,
                  .may_be_gemma = true,
                  .may_have_window = true,
                  .may_scale_rope = true,
                  .may_differ_by_layer = true};
    else if (has("embed_tokens.") && has("pre_feedforward_layernorm."))
        module = {.name = message("Gemma 2"),
                  .norm_first = true,
                  .activation = "gelu_tanh",
                  .eps = "1e-06",
                  .norm = "rmsnorm_plus_one",
                  .positions = "rope",
                  .tied_head = true,
                  .scaled_embedding = true,
                  .may_be_gemma = true,
                  .may_have_window = true,
                  .capped = true};
    else if (has("embed_tokens.") && has("input_layernorm.") && !has("post_attention_layernorm.") && has("gate_proj."))
        module = {.name = message("Command R"),
                  .norm_first = true,
                  .activation = "silu",
                  .positions = "rope",
                  .tied_head = true,
                  .interleaved = true,
                  .settled_scale = true,
                  .scaled_logits = true,
                  .may_have_window = true,
                  .may_scale_rope = true,
                  .may_differ_by_layer = true};
    else
        return false;
    return true;
}

}  // namespace

KnownModule known_module(const names::Shapes& stored, const StateDict& dict) {
    const auto has = [&](std::string_view part) { return names::any_name_holds(stored, part); };
    KnownModule module;
    if (known_family(stored, dict, module) || known_translator(stored, module) || known_gpt(stored, dict, module))
        return module;
    if (has("embed_tokens") && has("post_attention_layernorm.bias"))
        return {.name = message("a Llama with LayerNorm, such as StableLM"),
                .norm_first = true,
                .activation = "silu",
                .positions = "rope",
                .tied_head = true,
                .settled_scale = true,
                .partly_rotary = true,
                .may_have_window = true};
    if (has("embed_tokens") && has("post_attention_layernorm"))
        return {.name = message("Hugging Face Llama"),
                .norm_first = true,
                .activation = "silu",
                .eps = "1e-06",
                .norm = "rmsnorm",
                .positions = "rope",
                .tied_head = true,
                .settled_scale = true,
                .may_be_gemma = true,
                .may_have_window = true,
                .may_scale_rope = true,
                .may_differ_by_layer = true,
                .may_be_multiplied = true};
    if (has("in_proj_weight") && has("multihead_attn"))
        return {.name = Sentence::verbatim("torch.nn.TransformerDecoder"), .settled_scale = true};
    if (has("in_proj_weight") && stored.contains("decoder.weight"))
        return {.name = message("PyTorch's language-model example"), .scaled_embedding = true, .settled_scale = true};
    if (has("in_proj_weight"))
        return {.name = Sentence::verbatim("torch.nn.TransformerEncoder"), .settled_scale = true};
    if (has("layernorm_att"))
        return {.name = has("layer_list") ? message("Decoder, a stack of SimpleDecoder")
                                          : Sentence::verbatim("SimpleDecoder")};
    if (has("enc_dec_attn")) return {.name = Sentence::verbatim("DecoderLayer")};
    if (has("cross_attn") && has("ffn.0."))
        return {.name = Sentence::verbatim(has("layers.") ? "TransformerDecoder" : "TransformerDecoderBlock"),
                .norm_first = true};
    if (has("ln_f.") || has("ln_1.") || has("ln1."))
        return {.name = message("a GPT"), .norm_first = true, .activation = "gelu"};
    if (has("gate_proj"))
        return {.name = message("a decoder with a gated MLP"),
                .norm_first = true,
                .activation = "silu",
                .eps = "1e-06",
                .norm = "rmsnorm"};
    // A final norm suggests Pre-Norm; tokens without a table of positions suggest a formula that isn't stored.
    const bool tokens = dict.shapes.contains("embed.weight");
    return {.name = message("a decoder"),
            .norm_first = dict.shapes.contains("norm.weight"),
            .positions = tokens ? "sinusoidal" : "none"};
}

}  // namespace decoderscope::load
