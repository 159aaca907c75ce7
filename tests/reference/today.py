"""The small configurations of the keys that today's decoders brought: experts, sinks, latent attention, RoPE by layer and
its later scalings, norms without gains. Each key is so strong that it shows."""

import numpy as np

from models import ones_then_zeros
from small import mask_edit, memory, scale_head, set_cell, small, tokens, use_expert, x

LANGUAGE_MODEL = {"vocab_size": 9, "lm_head": True, "final_norm": True}
LLAMA = {**LANGUAGE_MODEL, "norm_first": True, "norm": "rmsnorm", "bias": False, "activation": "silu", "gated_mlp": True,
         "positional_encoding": "rope", "rope_theta": 100.0, "nhead": 4, "num_key_value_heads": 2}
TRANSLATION = {"cross_attention": True, "encoder_layers": 1, "vocab_size": 9, "encoder_vocab_size": 7, "lm_head": True}


def text(length=5, kept=3):
    """Two rows, the second of which ends in padding."""
    return {"tokens": tokens(2, length, 9), "attention_mask": ones_then_zeros(length, length, kept)}


def source():
    return {**text(), "encoder_tokens": tokens(2, 6, 7, "encoder_tokens"),
            "encoder_attention_mask": ones_then_zeros(6, 6, 4)}


def activations_and_norms():
    yield small("relu-squared", "the square of relu, Post-Norm", {"activation": "relu2", "num_layers": 1}, {"x": x()})
    yield small("relu-squared-gated", "the square of relu as a gate",
                {"activation": "relu2", "gated_mlp": True, "norm_first": True, "num_layers": 1}, {"x": x()})
    yield small("swiglu-clamped", "a limit so low and an alpha so far from 1 that both show, with biases",
                {"activation": "swiglu_clamped", "gated_mlp": True, "swiglu_limit": 0.75, "swiglu_alpha": 2.5,
                 "norm_first": True}, {"x": x()})
    yield small("nanochat-like", "norms without gain, of the embedding and of q and k, too; relu squared, capped logits",
                {**LLAMA, "norm_gain": False, "embedding_norm": True, "qk_norm": True, "activation": "relu2",
                 "gated_mlp": False, "logit_soft_cap": 1.5}, text())
    yield small("no-gain-layernorm", "LayerNorm with a bias and no gain, before and after each sublayer",
                {"norm_gain": False, "norm_placement": "peri", "num_layers": 1}, {"x": x()})
    yield small("no-gain-edits", "a scale and a normalised row of a norm without gain and bias changed",
                {"norm_gain": False, "bias": False, "norm_first": True, "num_layers": 1}, {"x": x()}, edits=[
                    set_cell("blocks.0.ln1.scale", [0, 2, 0], 0.5),
                    set_cell("blocks.0.ln2.normalized", [1, 4, 3], -1.25)])


def by_a_line_of_the_book():
    yield small("mish", "mish, Post-Norm", {"activation": "mish", "num_layers": 1}, {"x": x()})
    yield small("mish-gated", "mish as a gate", {"activation": "mish", "gated_mlp": True, "norm_first": True, "num_layers": 1}, {"x": x()})
    yield small("tanh-squared", "the square of tanh, Pre-Norm", {"activation": "tanh2", "norm_first": True, "num_layers": 1}, {"x": x()})
    yield small("dynamic-tanh", "dynamic tanh in place of norms, before each sublayer and at the end",
                {**LANGUAGE_MODEL, "norm": "dynamic_tanh", "norm_first": True}, text())
    yield small("dynamic-tanh-sandwich", "dynamic tanh without shift around each sublayer",
                {"norm": "dynamic_tanh", "bias": False, "norm_placement": "peri", "num_layers": 1}, {"x": x()}, edits=[
                    set_cell("blocks.0.ln1.normalized", [0, 2, 3], 0.5)])


def scales():
    yield small("granite-like", "four multipliers: the embedding's, the scores', the updates', the logits'",
                {**LLAMA, "embedding_scale": 3.0, "attention_scale": 0.2, "update_scale": 0.35, "logit_scale": 0.25,
                 "tie_word_embeddings": True}, text())
    yield small("scaled-updates-encdec", "stream and updates scaled in both stacks, an embedding scaled twice, dropout "
                "before the sums",
                {**TRANSLATION, "num_layers": 1, "scale_embedding": True, "embedding_scale": 0.5, "residual_scale": 0.8,
                 "update_scale": -1.5, "dropout": 0.2, "dropout_sites": ["attention_out", "mlp_out"]}, source(),
                dropout_seed=2)
    yield small("scaled-updates-parallel", "both updates of a parallel block scaled, and the stream",
                {"norm_first": True, "parallel_residual": "two_norms", "residual_scale": 0.9, "update_scale": 0.4,
                 "num_layers": 1}, {"x": x()})
    yield small("layer-scale", "what each sublayer gives times a gain of its own, behind second norms",
                {"norm_placement": "peri", "layer_scale": True, "num_layers": 1}, {"x": x()})
    yield small("layer-scale-parallel", "LayerScale in a parallel block", {"norm_first": True, "parallel_residual": "one_norm",
                "layer_scale": True, "num_layers": 1}, {"x": x()})
    yield small("scaled-updates-peri", "updates scaled behind their norms",
                {"norm_placement": "peri", "norm": "rmsnorm", "update_scale": 0.3, "num_layers": 1}, {"x": x()})


def rope_by_layer():
    gemma = {**LLAMA, "norm_first": False, "norm": "rmsnorm_plus_one", "norm_placement": "peri", "qk_norm": True,
             "head_dim": 6, "attention_scale": 0.3, "scale_embedding": True, "tie_word_embeddings": True,
             "activation": "gelu_tanh"}
    yield small("gemma-3-like", "windows with a base of their own in two layers, scaled RoPE in the third; norms of q and "
                "k with gain 1 + weight",
                {**gemma, "num_layers": 3, "sliding_window": 3, "sliding_window_layers": [0, 1], "rope_theta": 500.0,
                 "rope_local_theta": 20.0, "rope_scaling": "linear", "rope_factor": 4.0}, text(6, 5))
    yield small("olmo-3-like", "norms after the sublayers, YaRN in the layer without a window only",
                {**LLAMA, "norm_first": False, "norm_placement": "reordered", "qk_norm": True,
                 "qk_norm_across_heads": True, "head_dim": 8, "sliding_window": 3, "sliding_window_layers": [0],
                 "rope_theta": 40.0, "rope_local_theta": 40.0, "rope_scaling": "yarn", "rope_factor": 4.0,
                 "rope_original_positions": 32, "rope_beta_fast": 3.0, "rope_attention_factor": 1.3}, text(7, 5))
    yield small("smollm-3-like", "one layer in two without RoPE",
                {**LLAMA, "rope_layers": [0], "tie_word_embeddings": True}, text())
    yield small("cohere-2-like", "a parallel block with a window and RoPE, then one with neither; scaled logits",
                {**LANGUAGE_MODEL, "norm_first": True, "bias": False, "parallel_residual": "one_norm", "gated_mlp": True,
                 "activation": "silu", "positional_encoding": "rope", "rope_interleaved": True, "rope_theta": 50.0,
                 "sliding_window": 2, "sliding_window_layers": [0], "rope_layers": [0], "logit_scale": 0.25,
                 "tie_word_embeddings": True}, text())
    yield small("rope-layers-encdec", "layers of both stacks with and without RoPE; a base of the windowed layer's own, "
                "which no encoder has",
                {**TRANSLATION, "encoder_layers": 2, "norm_first": True, "positional_encoding": "rope",
                 "rope_theta": 30.0, "rope_local_theta": 3.0, "sliding_window": 2, "rope_layers": [1]}, source())
    yield small("rope-local-partly", "neighbours of some columns turned in layer 0, by a base of its window's own",
                {"positional_encoding": "rope", "rope_interleaved": True, "nhead": 1, "rotary_dim": 4, "rope_theta": 30.0,
                 "rope_local_theta": 3.0, "rope_layers": [0], "sliding_window": 4, "sliding_window_layers": [0]}, {"x": x()})


def rope_scalings():
    yarn = {**LLAMA, "num_layers": 1, "head_dim": 12, "rope_theta": 40.0, "rope_scaling": "yarn", "rope_factor": 6.0,
            "rope_original_positions": 64}
    nine = {"tokens": tokens(1, 9, 9)}
    yield small("yarn", "pairs kept, divided and between; the factor of cos and sin that YaRN has by default",
                {**yarn, "rope_beta_fast": 5.0}, nine)
    yield small("yarn-default-betas", "beta_fast 32 and beta_slow 1: the ramp begins before the first pair", yarn, nine)
    yield small("yarn-not-truncated", "the ramp's ends between two pairs, a factor of its own",
                {**yarn, "rope_beta_fast": 5.0, "rope_beta_slow": 0.75, "rope_truncate": False,
                 "rope_attention_factor": 0.8}, nine)
    yield small("yarn-interleaved", "neighbours of eight of twelve columns",
                {**yarn, "rope_beta_fast": 4.0, "rope_interleaved": True, "rotary_dim": 8}, nine)
    yield small("yarn-one-step", "the ramp's ends fall on one pair: kept before, divided from there on",
                {**yarn, "rope_beta_fast": 1.2, "rope_beta_slow": 1.2, "rope_truncate": False}, nine)
    phi = {**LLAMA, "head_dim": 8, "rotary_dim": 6, "sliding_window": 4, "rope_scaling": "longrope", "rope_factor": 8.0,
           "rope_original_positions": 6, "rope_short_factors": [1.0, 1.25, 1.5], "rope_long_factors": [1.5, 4.0, 9.0]}
    yield small("phi-3-longrope-like", "a text longer than the original positions: the long divisors, some of the columns",
                phi, text(7, 5))
    yield small("longrope-short", "a text just as long as the original positions: the short divisors",
                {**phi, "num_layers": 1}, text(6, 5))
    yield small("longrope-factor", "a factor of cos and sin of its own",
                {**phi, "num_layers": 1, "rope_attention_factor": 1.25}, text(7, 5))


def sinks():
    yield small("sinks", "a sink for each of two heads, in an encoder, too; not in cross-attention",
                {**TRANSLATION, "num_layers": 1, "attention_sinks": True}, source())
    left_padded = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]], np.int64)
    yield small("sinks-nothing-left", "queries without a key: the sink gets all the weight",
                {"attention_sinks": True, "num_layers": 1}, {"x": x(), "attention_mask": left_padded})
    yield small("sinks-soft-mask", "capped scores, masked keys that keep some weight, dropout of scores and weights",
                {"attention_sinks": True, "attention_soft_cap": 1.0, "mask_value": "-1.5", "dropout": 0.25,
                 "dropout_sites": ["attention_scores", "attention_weights"], "num_layers": 1}, text_of_vectors(),
                dropout_seed=11)
    yield small("sinks-edits", "mask, pattern, a head, and a sink, on which nothing depends",
                {"attention_sinks": True, "num_layers": 1}, {"x": x()}, edits=[
                    mask_edit("blocks.0.attn", 0, 1, 3, 2, False), set_cell("blocks.0.attn.pattern", [0, 0, 2, 1], 0.75),
                    set_cell("blocks.0.attn.sink", [0, 0, 2, 0], 0.125), scale_head("blocks.0.attn", 1, -0.5)])


def text_of_vectors():
    return {"x": x(), "attention_mask": ones_then_zeros(5, 5, 3)}


LATENT = {**LANGUAGE_MODEL, "norm_first": True, "norm": "rmsnorm", "bias": False, "activation": "silu", "gated_mlp": True,
          "positional_encoding": "rope", "rope_theta": 100.0, "nhead": 2, "head_dim": 7, "kv_lora_rank": 5,
          "qk_rope_head_dim": 4, "v_head_dim": 3}


def latent_attention():
    yield small("latent", "keys and values of five numbers and four turned columns; queries projected at once",
                {**LATENT, "num_layers": 1}, text())
    yield small("latent-queries", "queries by a latent of their own, neighbours turned, values as wide as keys",
                {**LATENT, "num_layers": 1, "q_lora_rank": 6, "rope_interleaved": True, "v_head_dim": 0}, text())
    yield small("latent-biases", "every projection with a bias, LayerNorm, RMSNorm of the latents; a sink, a window, a "
                "soft cap; the heads' results asked for",
                {**LATENT, "num_layers": 1, "norm": "layernorm", "bias": True, "q_lora_rank": 6, "attention_sinks": True,
                 "sliding_window": 3, "attention_soft_cap": 2.0}, text(), asked=["blocks.0.attn.result"])
    yield small("latent-plus-one", "gain 1 + weight in the latents' norms; one layer without RoPE",
                {**LATENT, "norm": "rmsnorm_plus_one", "q_lora_rank": 3, "rope_layers": [1]}, text())
    yield small("latent-no-gain", "norms without gain, no positions at all",
                {**LATENT, "num_layers": 1, "norm_gain": False, "q_lora_rank": 3, "positional_encoding": "none"}, text())
    yield small("latent-encdec", "latent attention in both stacks, an ordinary one to the memory, shared keys of ALiBi's",
                {**TRANSLATION, "num_layers": 1, "nhead": 2, "head_dim": 6, "kv_lora_rank": 4, "qk_rope_head_dim": 2,
                 "alibi": True}, source())
    yield small("latent-edits", "cells of both latents and of the shared columns, a head, a result",
                {**LATENT, "num_layers": 1, "q_lora_rank": 6}, text(), edits=[
                    set_cell("blocks.0.attn.q_latent", [0, 2, 1], 1.5), set_cell("blocks.0.attn.kv_latent", [0, 1, 4], -2.0),
                    set_cell("blocks.0.attn.k_shared", [1, 0, 2, 3], 1.0), set_cell("blocks.0.attn.v", [0, 1, 0, 2], 2.0),
                    scale_head("blocks.0.attn", 0, 0.5), set_cell("blocks.0.attn.result", [0, 1, 3, 2], 1.0)])


MIXTURE = {**LLAMA, "experts": 4, "experts_per_token": 2, "expert_dim_feedforward": 6}


def even_router(case, layers):
    """The same case with some layers' routers at zero: every expert has the same score."""
    for layer in layers:
        for name in ("weight", "bias", "correction"):
            if f"layers.{layer}.router.{name}" in case.weights:
                case.weights[f"layers.{layer}.router.{name}"][...] = 0
    return case


def mixtures():
    yield small("mixtral-like", "the best two of four experts, their weights made to add up to 1",
                {**MIXTURE, "router_normalize": True}, text())
    yield small("qwen-3-moe-like", "the best three of eight, norms of q and k, wide heads",
                {**MIXTURE, "experts": 8, "experts_per_token": 3, "expert_dim_feedforward": 4, "router_normalize": True,
                 "qk_norm": True, "head_dim": 6}, text())
    yield small("qwen-2-moe-like", "a dense layer, then experts with weights as they are and a gated shared MLP; biases",
                {**MIXTURE, "bias": True, "moe_layers": [1], "shared_dim_feedforward": 10, "shared_gate": True}, text())
    yield small("gpt-oss-like", "biased experts, clamped SwiGLU, sinks, a window in every other layer, YaRN without "
                "truncation, wide heads",
                {**MIXTURE, "bias": True, "activation": "swiglu_clamped", "swiglu_limit": 1.5, "router_normalize": True,
                 "attention_sinks": True, "sliding_window": 2, "sliding_window_layers": [0], "head_dim": 6,
                 "rope_theta": 60.0, "rope_scaling": "yarn", "rope_factor": 4.0, "rope_original_positions": 32,
                 "rope_beta_fast": 3.0, "rope_truncate": False}, text(), without=["lm_head.bias"])
    yield small("deepseek-v2-like", "latent attention, YaRN by its two mscales, a dense layer, weights that are scaled "
                "and not normalised, a shared MLP",
                {**LATENT, "rope_interleaved": True, "head_dim": 8, "qk_rope_head_dim": 6, "rope_theta": 40.0,
                 "rope_scaling": "yarn", "rope_factor": 6.0, "rope_original_positions": 64, "rope_beta_fast": 5.0,
                 "rope_attention_factor": 0.9, "attention_scale": 0.5, "experts": 4, "experts_per_token": 2,
                 "expert_dim_feedforward": 6, "moe_layers": [1], "router_scale": 1.6, "shared_dim_feedforward": 8}, text())
    yield small("deepseek-v3-like", "latent queries, too; sigmoids with a correction that only chooses, two of four "
                "groups, weights normalised and scaled, a shared MLP",
                {**LATENT, "rope_interleaved": True, "q_lora_rank": 6, "experts": 8, "experts_per_token": 3,
                 "expert_dim_feedforward": 4, "moe_layers": [1], "router": "sigmoid", "router_normalize": True,
                 "router_scale": 2.5, "router_groups": 4, "router_top_groups": 2, "shared_dim_feedforward": 4}, text())


def routers():
    yield small("one-expert", "the best of three without a gate, Post-Norm, biases (Switch)",
                {"experts": 3, "experts_per_token": 1, "activation": "relu"}, {"x": x()})
    yield small("every-expert", "all of three, in their order by score",
                {**MIXTURE, "num_layers": 1, "experts": 3, "experts_per_token": 3}, text())
    sigmoid = {**MIXTURE, "num_layers": 1, "router": "sigmoid"}
    yield small("sigmoid-router", "sigmoids without a correction, not normalised, scaled",
                {**sigmoid, "router_scale": 0.7}, text(), without=["layers.0.router.correction"])
    corrected = small("corrected-softmax", "a correction beside a softmax", {**MIXTURE, "num_layers": 1}, text())
    corrected.weights["layers.0.router.correction"] = np.array([-0.5, 0.25, 0.125, -0.25], np.float32)
    yield corrected
    grouped = {**sigmoid, "experts": 6, "router_normalize": True}
    yield small("groups-of-three", "one of two groups, by its two best",
                {**grouped, "router_groups": 2, "router_top_groups": 1}, text())
    yield small("groups-of-one", "groups of one expert: a group's worth is its only score",
                {**grouped, "router_groups": 6, "router_top_groups": 3}, text())
    yield small("softmax-groups", "groups by softmax without a correction, weights as they are",
                {**MIXTURE, "num_layers": 1, "experts": 6, "router_groups": 3, "router_top_groups": 1}, text())
    yield small("groups-by-their-best", "two of three groups by their best expert (DeepSeek-V2), weights scaled",
                {**MIXTURE, "num_layers": 1, "experts": 6, "router_groups": 3, "router_top_groups": 2,
                 "router_group_best": 1, "router_scale": 1.3}, text())
    yield even_router(small("ties", "every expert has the same score in layer 1: the first ones", MIXTURE, text()), [1])
    tied = even_router(small(
        "group-ties", "equal sigmoids, and a correction that makes two groups the best alike: the first of them, and of "
        "it the first of its best",
        {**sigmoid, "experts": 8, "experts_per_token": 2, "router_groups": 4, "router_top_groups": 1}, text()), [0])
    # Worth of the groups, beside the two halves: 0.25, 0.5, 0.25, 0.5.
    tied.weights["layers.0.router.correction"][...] = [0.25, 0, 0.25, 0.25, 0, 0.25, 0.5, 0]
    yield tied
    part = small("some-ties", "experts 1 and 3 always have the same score", {**MIXTURE, "router": "sigmoid",
                 "experts_per_token": 1}, text())
    for layer in range(2):
        router, correction = (part.weights[f"layers.{layer}.router.{n}"] for n in ("weight", "correction"))
        router[[1, 3]], correction[[1, 3]] = 0, 0.0625
    yield part
    left_padded = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]], np.int64)
    yield small("experts-nothing-left", "two queries without a key: their scores are NaN, and the first experts are theirs",
                {"experts": 4, "experts_per_token": 2, "num_layers": 1}, {"x": x(), "attention_mask": left_padded})


def mixtures_elsewhere():
    yield small("experts-encdec", "experts in both stacks, a shared MLP, behind Peri-Norm",
                {**TRANSLATION, "num_layers": 1, "norm_placement": "peri", "experts": 4, "experts_per_token": 2,
                 "expert_dim_feedforward": 5, "shared_dim_feedforward": 6, "activation": "gelu"}, source())
    yield small("experts-parallel", "experts in a parallel block",
                {**LANGUAGE_MODEL, "norm_first": True, "parallel_residual": "one_norm", "num_layers": 1, "experts": 4,
                 "experts_per_token": 2, "expert_dim_feedforward": 6}, text())
    yield small("experts-dropout", "dropout of what experts and the shared MLP hold, and of what they add",
                {**MIXTURE, "num_layers": 1, "shared_dim_feedforward": 6, "dropout": 0.25,
                 "dropout_sites": ["mlp_post", "mlp_out"]}, text(), dropout_seed=13)
    yield small("experts-edits", "experts forced and switched off; logits, scores, outputs, the shared MLP changed",
                {**MIXTURE, "router_normalize": True, "shared_dim_feedforward": 6, "shared_gate": True}, text(), edits=[
                    set_cell("blocks.0.mlp.expert", [0, 1, 0], 3), set_cell("blocks.0.mlp.expert", [0, 1, 1], 3),
                    set_cell("blocks.0.mlp.expert", [1, 2, 1], 0),
                    set_cell("blocks.0.mlp.expert_weight", [0, 2, 1], 0.0),
                    set_cell("blocks.0.mlp.expert_out", [0, 3, 1, 4], 2.0), set_cell("blocks.0.mlp.gate", [0, 0, 1, 2], 1.0),
                    set_cell("blocks.0.mlp.shared_out", [1, 1, 5], -1.0),
                    set_cell("blocks.1.mlp.router_logits", [0, 0, 2], 9.0),
                    set_cell("blocks.1.mlp.router_scores", [0, 4, 1], 0.96875),
                    set_cell("blocks.1.mlp.shared.post", [0, 1, 5], 1.0),
                    set_cell("blocks.1.mlp.shared_weight", [0, 2, 0], 0.0), set_cell("blocks.1.mlp_out", [1, 0, 0], 1.5)])
    yield small("experts-routed", "experts switched off everywhere and at a position, and positions that go to one alone",
                {**MIXTURE, "router_normalize": True}, text(), edits=[
                    use_expert("blocks.0.mlp", 2, "off"), use_expert("blocks.0.mlp", 1, "off", 0, 3),
                    use_expert("blocks.0.mlp", 3, "alone", 1, 2), use_expert("blocks.1.mlp", 0, "off", "*", 1),
                    use_expert("blocks.1.mlp", 1, "alone", 0), use_expert("blocks.1.mlp", 3, "off", 0, 4)])


def near_llama():
    yield small("olmo-like", "LayerNorm without parameters, q, k and v clipped",
                {**LLAMA, "num_layers": 1, "norm": "layernorm", "norm_gain": False, "clip_qkv": 0.75}, text())
    yield small("olmoe-like", "norms of q and k over all heads, then the clip, then RoPE; weights as they are",
                {**MIXTURE, "num_layers": 1, "clip_qkv": 0.5, "qk_norm": True, "qk_norm_across_heads": True}, text())
    yield small("hunyuan-like", "q and k normalised after they are turned",
                {**LLAMA, "num_layers": 1, "qk_norm": True, "qk_norm_after_rope": True, "head_dim": 6}, text())
    left_padded = {"tokens": tokens(2, 6, 9), "attention_mask": np.array([[1] * 6, [0, 0, 1, 1, 1, 1]], np.int64)}
    yield small("ministral-3-like", "queries that grow from the third token on, and again from the fifth, left of which is padding",
                {**LLAMA, "num_layers": 1, "positions": "from_mask", "query_scale_beta": 0.5, "query_scale_positions": 2},
                left_padded)
    yield small("nemotron-like", "LayerNorm with gain 1 + weight, relu squared, two of four columns turned",
                {**LLAMA, "num_layers": 1, "norm": "layernorm_plus_one", "bias": True, "activation": "relu2", "gated_mlp": False,
                 "nhead": 2, "rotary_dim": 2}, text())
    yield small("apertus-like", "xIELU, norms of q and k",
                {**LLAMA, "num_layers": 1, "activation": "xielu", "gated_mlp": False, "qk_norm": True}, text())
    yield small("phi-3.5-moe-like", "two experts by sparsemixer, whose reach is so wide that near ties are usual; LayerNorm, biases",
                {**MIXTURE, "num_layers": 1, "norm": "layernorm", "bias": True, "experts": 5, "router": "sparsemixer",
                 "router_jitter": 0.3}, text())
    yield small("clipped-encdec", "the clip in both stacks and to the memory, scaled queries and xIELU in both stacks, LayerNorm "
                "with gain 1 + weight behind the sums",
                {**TRANSLATION, "num_layers": 1, "norm": "layernorm_plus_one", "clip_qkv": 0.5, "query_scale_beta": 0.5,
                 "query_scale_positions": 3, "activation": "xielu"}, source())
    yield small("near-llama-edits", "clipped values, a growing query, what xIELU gives and one of its scores changed",
                {**LLAMA, "num_layers": 1, "clip_qkv": 0.75, "query_scale_beta": 0.5, "query_scale_positions": 2,
                 "qk_norm": True, "qk_norm_after_rope": True, "activation": "xielu", "gated_mlp": False}, text(), edits=[
                    set_cell("blocks.0.attn.v", [0, 1, 2, 1], 1.5), set_cell("blocks.0.attn.q", [0, 3, 4, 0], -1.0),
                    set_cell("blocks.0.mlp.pre", [0, 1, 5], -2.0), set_cell("blocks.0.mlp.post", [1, 2, 7], 0.25)])


def cases():
    for group in (activations_and_norms, by_a_line_of_the_book, scales, rope_by_layer, rope_scalings, sinks, latent_attention, mixtures, routers,
                  mixtures_elsewhere, near_llama):
        yield from group()
