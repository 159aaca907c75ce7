#pragma once

#include "engine/load/families/family.h"
#include "engine/load/families/keys.h"

#include <functional>

namespace decoderscope::load::families {

struct Reading;

// Each reads the configuration of one model_type, as the class of that name in Hugging Face's transformers does: the
// same keys, defaults and meaning.

// gpt_like.cpp
void read_gpt2(Reading& reading);
void read_gpt_neo(Reading& reading);
void read_starcoder2(Reading& reading);
void read_mpt(Reading& reading);
void read_opt(Reading& reading);
void read_bloom(Reading& reading);
// llama_like.cpp: Pre-Norm with RMSNorm, RoPE, a gated MLP
void read_llama(Reading& reading);
void read_mistral(Reading& reading);
void read_qwen2(Reading& reading);
void read_qwen3(Reading& reading);
void read_olmo2(Reading& reading);
void read_phi3(Reading& reading);
void read_olmo3(Reading& reading);
void read_smollm3(Reading& reading);
void read_granite(Reading& reading);
void read_stablelm(Reading& reading);
void read_cohere(Reading& reading);
void read_cohere2(Reading& reading);
void read_gemma(Reading& reading);
void read_gemma2(Reading& reading);
void read_gemma3(Reading& reading);
void read_gemma3_with_pictures(Reading& reading);
// mixtures.cpp
void read_mixtral(Reading& reading);
void read_qwen2_moe(Reading& reading);
void read_qwen3_moe(Reading& reading);
void read_gpt_oss(Reading& reading);
void read_deepseek_v2(Reading& reading);
void read_deepseek_v3(Reading& reading);
// parallel_blocks.cpp: attention and MLP in one sum
void read_gptj(Reading& reading);
void read_gpt_neox(Reading& reading);
void read_phi(Reading& reading);
void read_falcon(Reading& reading);
// encoder_decoder.cpp
void read_bart(Reading& reading);
void read_marian(Reading& reading);
void read_t5(Reading& reading);

// A family while its config.json is read.
struct Reading {
    FamilyKeys& keys;
    ModelFamily& family;
    OrderedJson config = {{"model_type", "decoderscope"}};
    KeyNames names_of_heads = "nhead";  // what the family calls it

    [[nodiscard]] Index layers() const { return config.at("num_layers").get<Index>(); }
    // d_model, nhead, num_layers and vocab_size.
    void sizes(const KeyNames& width, const KeyNames& heads, const KeyNames& layers);
    // num_key_value_heads, as many as heads unless said otherwise, and dim_feedforward; nhead is read before.
    void key_value_heads_and_mlp();
    // What all of these decoders have: tokens, a head that may be tied, Pre-Norm with a norm after the last block.
    void causal_lm(bool tied);
};

// Which parts have a bias.
struct Biases {
    bool qkv = false, out = false, mlp = false, head = false, norms = false;
    bool latent = false;  // the projections to latent attention's rows
    bool router = false;
};
void biases(Reading& reading, const Biases& biases);

struct RopeDefaults {
    double theta = 10000.0;
    double part = 1.0;         // of a head's columns
    double local_theta = 0.0;  // of layers with a window, if these have a base of their own
};
// rope_theta, rope_scaling or rope_parameters, partial_rotary_factor, max_position_embeddings; head_dim is read before.
void rope(Reading& reading, const RopeDefaults& defaults = {}, const KeyNames& theta = "rope_theta",
          const KeyNames& part = "partial_rotary_factor");

// What Llama and families like it have: Pre-Norm with RMSNorm, RoPE, a gated MLP.
struct LlamaDefaults {
    double eps = 1e-6;
    bool tied = false;
    Index head_dim = 0;
};
void llama_like(Reading& reading, const LlamaDefaults& defaults = {}, const RopeDefaults& turned = {});

// head_dim, if it is not d_model / nhead; 0: d_model / nhead is the default.
void head_dim(Reading& reading, Index otherwise = 0);

// The blocks that layer_types names, or without it those for which `slides` is true, see this many positions; with a
// window of 0 none is limited.
void sliding_window(Reading& reading, Index window, const std::function<bool(Index)>& slides);
// A family whose blocks all see everything may say so.
void no_sliding_window(Reading& reading);

}  // namespace decoderscope::load::families
