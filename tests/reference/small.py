"""The small configurations: between them every configuration key has a value other than its default, and every kind of
mask, edit and dropout site is used. Their weights are larger than initial ones and their norms are not 1 and 0."""

import numpy as np

import models
import rng
from case import Case
from models import ones_then_zeros, vectors


def small(name, about, config, inputs, without=(), **rest):
    """A case with stored weights; `without` names optional parameters that the file leaves out. A key that is None
    is left out of the configuration."""
    config = {"d_model": 8, "nhead": 2, "num_layers": 2, "dim_feedforward": 12, **config}
    config = {key: value for key, value in config.items() if value is not None}
    weights = rng.perturbed_weights(config, 7)
    weights = {key: value for key, value in weights.items() if not key.startswith(tuple(without) or "\0")}
    return Case(name, about, config, inputs, weights, **rest)


def tokens(batch, pos, vocab, name="tokens"):
    return rng.integers(11, name, (batch, pos), vocab)


def x(batch=2, pos=5, d_model=8, name="x"):
    return vectors(11, name, (batch, pos, d_model))


def memory(batch=2, src=6, d_model=8):
    return x(batch, src, d_model, "memory")


def coin_mask(shape, diagonal=False):
    """1 for two thirds of the cells; with `diagonal` every query keeps its own key, so that no row is empty."""
    keep = rng.uniforms(11, "custom_mask", shape) < 2 / 3
    if diagonal:
        keep = keep | np.eye(shape[-1], dtype=bool)
    return keep.astype(np.int64)


def architectures():
    yield small(
        "gpt2-like", "Pre-Norm, learned positions, gelu_tanh, a tied head without a bias",
        {"norm_first": True, "final_norm": True, "activation": "gelu_tanh", "vocab_size": 11, "max_positions": 9,
         "positional_encoding": "learned", "lm_head": True, "tie_word_embeddings": True, "dim_feedforward": 16},
        {"tokens": tokens(2, 5, 11), "attention_mask": ones_then_zeros(5, 5, 4)}, without=["lm_head.bias"])
    yield small(
        "llama-like", "Pre-Norm, rmsnorm, gated silu, no bias, RoPE with another theta, grouped queries",
        {"d_model": 16, "nhead": 4, "num_key_value_heads": 2, "dim_feedforward": 20, "norm_first": True,
         "norm": "rmsnorm", "layer_norm_eps": 1e-6, "final_norm": True, "activation": "silu", "gated_mlp": True,
         "bias": False, "vocab_size": 13, "positional_encoding": "rope", "rope_theta": 500.0, "lm_head": True},
        {"tokens": tokens(2, 5, 13)})
    yield small(
        "post-rmsnorm-gated", "Post-Norm, rmsnorm, gated gelu with biases, a single key/value head, RoPE, not causal",
        {"nhead": 4, "num_key_value_heads": 1, "norm": "rmsnorm", "layer_norm_eps": 0.01, "activation": "gelu",
         "gated_mlp": True, "causal": False, "positional_encoding": "rope", "final_norm": True, "num_layers": 1},
        {"x": x(2, 6), "attention_mask": ones_then_zeros(6, 5, 6)})
    yield small(
        "scaled-embedding", "Post-Norm, scaled embedding, sinusoidal encoding, gelu, a tied head with a bias, a large eps",
        {"vocab_size": 10, "scale_embedding": True, "positional_encoding": "sinusoidal", "activation": "gelu",
         "layer_norm_eps": 0.1, "lm_head": True, "tie_word_embeddings": True, "num_layers": 1},
        {"tokens": tokens(2, 6, 10)})
    yield small(
        "sinusoidal-odd", "nine columns: five sines and four cosines",
        {"d_model": 9, "nhead": 1, "num_layers": 1, "norm_first": True, "positional_encoding": "sinusoidal",
         "activation": "silu"},
        {"x": x(1, 7, 9)})
    yield small(
        "no-bias", "layernorm without biases, a head without a bias, the default feed-forward size",
        {"bias": False, "norm_first": True, "final_norm": True, "vocab_size": 9, "lm_head": True, "num_layers": 1,
         "dim_feedforward": None, "activation": "gelu_tanh"},
        {"tokens": tokens(2, 5, 9)})
    yield small(
        "not-causal", "every query sees what comes later",
        {"causal": False, "num_layers": 1}, {"x": x(), "attention_mask": ones_then_zeros(5, 5, 3)})
    yield small(
        "one-token", "a batch of one, a single position, one head",
        {"nhead": 1, "num_layers": 1, "vocab_size": 5, "lm_head": True, "final_norm": True},
        {"tokens": tokens(1, 1, 5)})
    yield small(
        "shared-qkv", "q, k and v from q_proj, in self- and cross-attention, with RoPE; no k_proj, v_proj in the file",
        {"shared_qkv": True, "cross_attention": True, "positional_encoding": "rope", "num_layers": 1},
        {"x": x(), "memory": memory()},
        without=[f"layers.0.{a}_attn.{p}_proj" for a in ("self", "cross") for p in "kv"])


def soft_caps():
    yield small(
        "soft-caps", "scores and logits capped so low that it shows, RoPE, grouped queries, padding",
        {"nhead": 4, "num_key_value_heads": 2, "norm_first": True, "norm": "rmsnorm", "final_norm": True,
         "vocab_size": 11, "lm_head": True, "positional_encoding": "rope", "attention_soft_cap": 0.5,
         "logit_soft_cap": 2.0},
        {"tokens": tokens(2, 5, 11), "attention_mask": ones_then_zeros(5, 5, 3)})
    yield small(
        "soft-cap-encdec", "the cap in an encoder and in cross-attention, with dropout of the scores",
        {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "attention_soft_cap": 1.5, "dropout": 0.2,
         "dropout_sites": ["attention_scores", "attention_weights"], "mask_value": "-1e4"},
        {"x": x(), "memory": memory(), "encoder_attention_mask": ones_then_zeros(6, 6, 4)}, dropout_seed=9)


def parallel_blocks():
    gpt_j = {"norm_first": True, "final_norm": True, "vocab_size": 9, "lm_head": True, "activation": "gelu_tanh",
             "positional_encoding": "rope"}
    text = {"tokens": tokens(2, 5, 9), "attention_mask": ones_then_zeros(5, 5, 3)}
    yield small("parallel-one-norm", "attention and MLP read one norm and are added in one sum (GPT-J, Phi)",
                {**gpt_j, "parallel_residual": "one_norm"}, text)
    yield small("parallel-two-norms", "the same with a norm for each (GPT-NeoX), every dropout site after a sublayer",
                {**gpt_j, "parallel_residual": "two_norms", "dropout": 0.25, "dropout_sites": ["attention_out", "mlp_out"]},
                text, dropout_seed=3)
    yield small("parallel-edits", "a norm's output, an update and the sum changed in a parallel block without biases",
                {**gpt_j, "parallel_residual": "one_norm", "bias": False, "norm": "rmsnorm"}, text, edits=[
                    set_cell("blocks.0.ln1.normalized", [0, 1, 2], 1.5),
                    set_cell("blocks.0.attn_out", [0, 2, 3], -1.0),
                    set_cell("blocks.1.resid_post", [1, 1, 0], 2.0),
                    scale_head("blocks.1.attn", 0, 0.0),
                ])


def families():
    """The combinations of keys that families of models have, each key so strong that it shows."""
    text = {"tokens": tokens(2, 5, 9), "attention_mask": ones_then_zeros(5, 5, 3)}
    language_model = {"vocab_size": 9, "lm_head": True, "final_norm": True}
    llama = {**language_model, "norm_first": True, "norm": "rmsnorm", "bias": False, "activation": "silu",
             "gated_mlp": True, "positional_encoding": "rope", "rope_theta": 100.0, "nhead": 4,
             "num_key_value_heads": 2}
    yield small("gemma-2-like", "Peri-Norm, gain 1 + weight, both caps, a window in every other layer, a head width and an "
                "attention scale of its own",
                {**llama, "norm_first": False, "norm_placement": "peri", "norm": "rmsnorm_plus_one", "head_dim": 4,
                 "attention_scale": 0.35, "attention_soft_cap": 2.0, "logit_soft_cap": 3.0, "sliding_window": 2,
                 "sliding_window_layers": [0], "scale_embedding": True, "tie_word_embeddings": True,
                 "activation": "gelu_tanh"},
                {"tokens": tokens(2, 5, 9), "attention_mask": ones_then_zeros(5, 5, 4)})
    yield small("olmo-2-like", "norms after the sublayers only, queries and keys normalised across heads",
                {**llama, "norm_placement": "reordered", "qk_norm": True, "qk_norm_across_heads": True,
                 "norm_first": False}, text)
    yield small("qwen-3-like", "queries and keys normalised by head, heads wider than d_model / nhead",
                {**llama, "qk_norm": True, "head_dim": 6, "num_layers": 1}, text)
    yield small("mistral-like", "a sliding window in every layer",
                {**llama, "sliding_window": 3}, {"tokens": tokens(2, 6, 9), "attention_mask": ones_then_zeros(6, 6, 4)})
    yield small("gpt-j-like", "neighbouring columns rotated, only some of a head, a parallel block",
                {**language_model, "norm_first": True, "parallel_residual": "one_norm", "activation": "gelu_tanh",
                 "positional_encoding": "rope", "rope_interleaved": True, "rotary_dim": 4, "head_dim": 6,
                 "num_layers": 1}, text)
    yield small("gpt-neox-like", "halves of some columns rotated, a parallel block with two norms",
                {**language_model, "norm_first": True, "parallel_residual": "two_norms", "activation": "gelu",
                 "positional_encoding": "rope", "rotary_dim": 2, "num_layers": 1}, text)
    yield small("bloom-like", "ALiBi for three heads, a norm after the embedding",
                {**language_model, "d_model": 9, "nhead": 3, "norm_first": True, "alibi": True, "embedding_norm": True,
                 "activation": "gelu_tanh", "num_layers": 1}, text)
    yield small("llama-3-like", "RoPE with some frequencies kept, some lowered and one between",
                {**llama, "head_dim": 8, "num_layers": 1, "rope_theta": 40.0, "rope_scaling": "llama3", "rope_factor": 6.0,
                 "rope_low_freq_factor": 0.9, "rope_high_freq_factor": 3.5, "rope_original_positions": 32},
                {"tokens": tokens(1, 9, 9)})
    yield small("linear-rope", "RoPE with all frequencies lowered, in neighbouring columns",
                {"positional_encoding": "rope", "rope_interleaved": True, "rope_scaling": "linear", "rope_factor": 2.5,
                 "num_layers": 1}, {"x": x()})
    yield small("cohere-like", "logits scaled, LayerNorm without bias, neighbouring columns rotated",
                {**language_model, "norm_first": True, "bias": False, "logit_scale": 0.0625, "positional_encoding": "rope",
                 "rope_interleaved": True, "parallel_residual": "one_norm", "num_layers": 1}, text)


def norm_placements():
    both = {"x": x(), "memory": memory(), "encoder_attention_mask": ones_then_zeros(6, 6, 4)}
    encdec = {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "final_norm": True}
    yield small("peri-encdec", "two norms a sublayer, LayerNorm, with dropout before the second",
                {**encdec, "norm_placement": "peri", "dropout": 0.2, "dropout_sites": ["attention_out", "mlp_out"]},
                both, dropout_seed=12)
    yield small("reordered-encdec", "norms after the sublayers, LayerNorm without the mean's eps under the root",
                {**encdec, "norm_placement": "reordered", "norm": "layernorm_std", "layer_norm_eps": 0.05}, both)
    yield small("deepnorm", "Post-Norm with the residual stream scaled in every sum",
                {**encdec, "residual_scale": 1.7}, both)
    yield small("annotated-transformer-like", "Pre-Norm by the unbiased standard deviation, eps outside the root",
                {**encdec, "norm_placement": "pre", "norm": "layernorm_std", "layer_norm_eps": 0.01}, both)
    yield small("attention-only-reordered", "no MLP, norms after the sublayers, the stream scaled down",
                {"dim_feedforward": 0, "norm_placement": "reordered", "residual_scale": 0.5}, {"x": x()})
    yield small("parallel-scaled-stream", "a parallel block whose stream is scaled",
                {"norm_first": True, "parallel_residual": "one_norm", "residual_scale": -0.75, "num_layers": 1},
                {"x": x()})
    yield small("peri-edits", "cells of both norms of a sublayer, gain 1 + weight",
                {"norm_placement": "peri", "norm": "rmsnorm_plus_one", "num_layers": 1}, {"x": x()}, edits=[
                    set_cell("blocks.0.ln1.scale", [0, 2, 0], 0.5), set_cell("blocks.0.ln1_post.scale", [0, 1, 0], 2.0),
                    set_cell("blocks.0.ln1_post.normalized", [1, 3, 2], -1.0),
                    set_cell("blocks.0.ln2_post.normalized", [0, 4, 7], 1.5), scale_head("blocks.0.attn", 1, 0.0),
                ])


def positions_and_scales():
    text = {"tokens": tokens(2, 5, 9), "attention_mask": ones_then_zeros(5, 5, 3)}
    translation = {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "vocab_size": 9,
                   "encoder_vocab_size": 7, "lm_head": True}
    source = {**text, "encoder_tokens": tokens(2, 6, 7, "encoder_tokens"),
              "encoder_attention_mask": ones_then_zeros(6, 6, 4)}
    yield small("embedding-norm-encdec", "a norm after embedding and scaled sinusoidal encoding in both stacks (BART's place)",
                {**translation, "embedding_norm": True, "positional_encoding": "sinusoidal", "position_scale": 0.4}, source)
    yield small("embedding-norm-vectors", "the norm of x itself, with a gain of 1 + weight; edited",
                {"embedding_norm": True, "norm": "rmsnorm_plus_one", "num_layers": 1}, {"x": x()}, edits=[
                    set_cell("embed_norm.scale", [0, 1, 0], 0.5), set_cell("embed_norm.normalized", [1, 4, 2], 2.0)])
    yield small("scaled-learned-positions", "a learned table times a number, logits scaled and capped",
                {"vocab_size": 9, "lm_head": True, "positional_encoding": "learned", "max_positions": 6, "num_layers": 1,
                 "position_scale": -0.5, "logit_scale": 1.5, "logit_soft_cap": 2.0}, text)
    yield small("alibi-encdec", "ALiBi for six heads in decoder and encoder, not in cross-attention, with an attention scale",
                {**translation, "d_model": 12, "nhead": 6, "alibi": True, "attention_scale": 0.9,
                 "attention_soft_cap": 1.5}, source)
    yield small("t5-like", "a learned bias by distance, in both directions in the encoder; heads of another width, scores "
                "not divided, RMSNorm, scaled logits",
                {**translation, "nhead": 2, "head_dim": 3, "norm_first": True, "norm": "rmsnorm", "final_norm": True,
                 "bias": False, "attention_scale": 1.0, "logit_scale": 0.35, "tie_word_embeddings": False,
                 "relative_attention_num_buckets": 6, "relative_attention_max_distance": 5}, source)
    yield small("alibi-window", "ALiBi under a window, one key/value head, a mask value that keeps some weight",
                {"nhead": 4, "num_key_value_heads": 1, "alibi": True, "sliding_window": 2, "mask_value": "-1.5"},
                {"x": x(), "custom_mask": coin_mask((5, 5), diagonal=True)})
    yield small("alibi-scaled", "ALiBi's bias is scaled with the scores, as in Falcon",
                {"nhead": 4, "num_key_value_heads": 1, "alibi": True, "alibi_scaled": True, "num_layers": 1}, {"x": x()})
    yield small("window-of-one", "each query sees itself; a mask edit opens a key behind the window",
                {"sliding_window": 1, "num_layers": 1}, {"x": x()}, edits=[
                    mask_edit("blocks.0.attn", 0, 1, 3, 0, True), mask_edit("blocks.0.attn", 1, "*", 2, 2, False)])
    yield small("window-not-causal", "a window back, and all that comes later",
                {"sliding_window": 2, "causal": False, "num_layers": 1}, {"x": x()})
    yield small("wide-heads-cross", "heads of another width in self- and cross-attention, their results asked for; "
                "queries and keys normalised in self-attention alone",
                {"d_model": 8, "nhead": 3, "num_key_value_heads": 1, "head_dim": 5, "cross_attention": True,
                 "num_layers": 1, "qk_norm": True, "norm": "rmsnorm_plus_one"},
                {"x": x(), "memory": memory()}, asked=["blocks.0.attn.result", "blocks.0.cross_attn.result"])
    yield small("qk-norm-shared-qkv", "one projection, two norms",
                {"shared_qkv": True, "qk_norm": True, "qk_norm_across_heads": True, "num_layers": 1,
                 "positional_encoding": "rope", "rope_interleaved": True}, {"x": x()})


def memories():
    yield small(
        "cross-pre", "Pre-Norm cross-attention to an input memory, grouped queries",
        {"nhead": 4, "num_key_value_heads": 2, "norm_first": True, "cross_attention": True, "activation": "gelu",
         "num_layers": 1, "final_norm": True},
        {"x": x(), "memory": memory(2, 7), "encoder_attention_mask": ones_then_zeros(7, 7, 4)})
    yield small(
        "cross-post-rmsnorm", "Post-Norm cross-attention, rmsnorm, gated silu, no bias",
        {"cross_attention": True, "norm": "rmsnorm", "activation": "silu", "gated_mlp": True, "bias": False,
         "num_layers": 1},
        {"x": x(), "memory": memory(), "encoder_attention_mask": ones_then_zeros(6, 4, 6)})
    yield small(
        "encdec-tokens", "Post-Norm encoder-decoder, two vocabularies, learned positions, scaled embeddings",
        {"cross_attention": True, "encoder_layers": 1, "vocab_size": 9, "encoder_vocab_size": 13, "final_norm": True,
         "positional_encoding": "learned", "max_positions": 8, "scale_embedding": True, "lm_head": True,
         "num_layers": 1},
        {"tokens": tokens(2, 5, 9), "encoder_tokens": tokens(2, 7, 13, "encoder_tokens"),
         "attention_mask": ones_then_zeros(5, 3, 5), "encoder_attention_mask": ones_then_zeros(7, 7, 2)})
    yield small(
        "encdec-memory", "Pre-Norm, the encoder reads the input memory, RoPE, no final norm",
        {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "vocab_size": 9, "encoder_vocab_size": 0,
         "norm_first": True, "positional_encoding": "rope", "rope_theta": 100.0, "activation": "gelu"},
        {"tokens": tokens(2, 5, 9), "memory": memory(2, 7), "encoder_attention_mask": ones_then_zeros(7, 6, 7)})
    yield small(
        "encdec-default-vocab", "an encoder whose vocabulary is the decoder's by default, sinusoidal encoding, rmsnorm",
        {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "vocab_size": 9, "norm": "rmsnorm",
         "positional_encoding": "sinusoidal", "final_norm": True, "norm_first": True},
        {"tokens": tokens(2, 5, 9), "encoder_tokens": tokens(2, 6, 9, "encoder_tokens")})
    yield small(
        "encdec-vectors", "no vocabulary at all: x and memory each get the sinusoidal encoding",
        {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "positional_encoding": "sinusoidal"},
        {"x": x(), "memory": memory()})


def attention_only():
    yield small("attention-only-pre", "no MLP, Pre-Norm, with a final norm and a head",
                {"dim_feedforward": 0, "norm_first": True, "vocab_size": 9, "lm_head": True, "final_norm": True},
                {"tokens": tokens(2, 5, 9)})
    yield small("attention-only-post", "no MLP, Post-Norm: the normalised sum is resid_post",
                {"dim_feedforward": 0, "vocab_size": 9, "lm_head": True}, {"tokens": tokens(2, 5, 9)})
    yield small("attention-only-cross-pre", "no MLP, Pre-Norm, cross-attention",
                {"dim_feedforward": 0, "norm_first": True, "cross_attention": True, "num_layers": 1},
                {"x": x(), "memory": memory()})
    yield small("attention-only-cross-post", "no MLP, Post-Norm, an encoder without MLPs, too",
                {"dim_feedforward": 0, "cross_attention": True, "encoder_layers": 1, "final_norm": True,
                 "num_layers": 1},
                {"x": x(), "memory": memory()})


def masks():
    left_padded = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]], np.int64)
    for name, value, what in (("inf", "-inf", "NaN"), ("finite", "-1e9", "uniform weights")):
        yield small(f"nothing-left-{name}", f"padding on the left leaves two queries no key: {what}",
                    {"mask_value": value, "activation": "relu"}, {"x": x(), "attention_mask": left_padded})
    yield small("nothing-left-cross", "a memory that is all padding: NaN in one batch element",
                {"cross_attention": True, "num_layers": 1},
                {"x": x(), "memory": memory(), "encoder_attention_mask": ones_then_zeros(6, 0, 6)})
    yield small("soft-mask", "a mask value so small that masked keys keep some weight",
                {"mask_value": "-1.5", "num_layers": 1, "norm_first": True},
                {"x": x(), "attention_mask": ones_then_zeros(5, 5, 3)})
    shapes = {
        "custom-mask-pos-pos": (coin_mask((5, 5), diagonal=True), {}),
        "custom-mask-batch": (coin_mask((2, 1, 5, 5), diagonal=True), {"causal": False}),
        "custom-mask-head": (coin_mask((1, 2, 1, 5)), {"mask_value": "-1e4"}),
        "custom-mask-all": (coin_mask((2, 2, 5, 5)), {"mask_value": "-1e9"}),
        "custom-mask-key": (np.array([1, 0, 1, 1, 0], np.int64), {}),
    }
    for name, (mask, config) in shapes.items():
        inputs = {"x": x(), "custom_mask": mask}
        if name == "custom-mask-batch":
            inputs["attention_mask"] = ones_then_zeros(5, 5, 4)
        yield small(name, f"custom_mask {list(mask.shape)}", {"num_layers": 1, **config}, inputs)


def dropouts():
    yield small("dropout-default-sites", "the default sites", {"dropout": 0.25, "num_layers": 1},
                {"x": x(), "attention_mask": ones_then_zeros(5, 5, 3)}, dropout_seed=5)
    yield small("dropout-scores-finite", "dropout before the softmax: a masked score that is dropped becomes 0",
                {"dropout": 0.3, "dropout_sites": ["attention_scores"], "mask_value": "-1e9", "num_layers": 1},
                {"x": x()}, dropout_seed=6)
    yield small("dropout-scores-inf", "the same under -inf: 0 times -inf is NaN, as in PyTorch",
                {"dropout": 0.1, "dropout_sites": ["attention_scores", "mlp_post"], "num_layers": 1},
                {"x": x()}, dropout_seed=4)
    every = ["attention_scores", "attention_weights", "attention_out", "mlp_post", "mlp_out"]
    yield small("dropout-encdec", "every site, in an encoder-decoder with a gate",
                {"dropout": 0.2, "dropout_sites": every, "mask_value": "-1e4", "cross_attention": True,
                 "encoder_layers": 1, "num_layers": 1, "gated_mlp": True, "activation": "silu", "norm_first": True},
                {"x": x(), "memory": memory(), "encoder_attention_mask": ones_then_zeros(6, 6, 4)},
                dropout_seed=4294967301)
    yield small("dropout-sums", "the sites that torch.nn.TransformerDecoderLayer has as modules, Post-Norm",
                {"dropout": 0.5, "dropout_sites": ["attention_out", "mlp_post", "mlp_out"], "cross_attention": True,
                 "num_layers": 1},
                {"x": x(), "memory": memory()}, dropout_seed=7)
    yield small("dropout-all", "p = 1: the MLP adds nothing",
                {"dropout": 1.0, "dropout_sites": ["mlp_out"], "num_layers": 1}, {"x": x()}, dropout_seed=1)
    yield models.simple_decoder("simple-decoder-dropout", dropout_seed=1)


def mask_edit(attention, batch, head, query, key, keep):
    return {"edit": "mask", "attention": attention, "batch": batch, "head": head, "query": query, "key": key,
            "keep": keep}


def scale_head(attention, head, factor):
    return {"edit": "scale_head", "attention": attention, "head": head, "factor": factor}


def use_expert(mlp, expert, use, batch="*", pos="*"):
    return {"edit": "expert", "mlp": mlp, "expert": expert, "batch": batch, "pos": pos, "use": use}


def set_cell(tensor, index, value):
    return {"edit": "set_cell", "tensor": tensor, "index": index, "value": value}


def edits():
    language_model = {"vocab_size": 9, "lm_head": True, "final_norm": True, "num_layers": 2}
    text = {"tokens": tokens(2, 5, 9), "attention_mask": ones_then_zeros(5, 5, 3)}
    yield small("edits-mask", "mask cells, one by one and with \"*\"; a later edit wins; one lets a query see the future",
                language_model, text, edits=[
                    mask_edit("blocks.0.attn", 0, 1, 2, 1, False),
                    mask_edit("blocks.0.attn", "*", 0, 4, 0, False),
                    mask_edit("blocks.0.attn", 0, "*", 1, 3, True),
                    mask_edit("blocks.1.attn", "*", "*", "*", 1, False),
                    mask_edit("blocks.1.attn", "*", "*", 1, 1, True),
                    set_cell("blocks.1.attn.mask", [0, 0, 4, 2], 0.0),
                ])
    yield small("edits-mask-row", "a whole row masked away under -inf",
                {"num_layers": 1}, {"x": x()}, edits=[mask_edit("blocks.0.attn", 1, 0, 3, "*", False)])
    yield small("edits-head", "heads scaled and switched off; cells of the same z before and after",
                {**language_model, "norm_first": True}, text, edits=[
                    set_cell("blocks.0.attn.z", [0, 1, 2, 3], 0.5),
                    scale_head("blocks.0.attn", 1, -1.5),
                    set_cell("blocks.0.attn.z", [1, 1, 0, 0], 2.0),
                    scale_head("blocks.1.attn", 0, 0.0),
                ])
    yield small("edits-cells-post", "cells of every kind of tensor, Post-Norm",
                {**language_model, "positional_encoding": "sinusoidal", "gated_mlp": True}, text, edits=[
                    set_cell("embed", [0, 1, 2], 1.25), set_cell("pos_embed", [2, 3], -0.75),
                    set_cell("blocks.0.resid_pre", [1, 0, 4], 0.5), set_cell("blocks.0.attn.q", [0, 1, 3, 2], 2.0),
                    set_cell("blocks.0.attn.k", [1, 0, 0, 1], -2.0), set_cell("blocks.0.attn.v", [0, 0, 1, 0], 3.0),
                    set_cell("blocks.0.attn.attn_scores", [0, 1, 4, 2], 1.5),
                    set_cell("blocks.0.resid_mid", [0, 2, 1], -1.0), set_cell("blocks.0.ln1.scale", [0, 3, 0], 0.5),
                    set_cell("blocks.0.ln1.normalized", [1, 2, 0], 1.0), set_cell("blocks.0.mlp.pre", [0, 0, 11], 1.0),
                    set_cell("blocks.0.mlp.gate", [0, 1, 3], 0.75), set_cell("blocks.0.mlp.post", [1, 4, 5], -0.5),
                    set_cell("blocks.0.resid_post", [1, 1, 1], 2.0),
                    set_cell("blocks.1.attn.masked_scores", [1, 1, 3, 1], 0.0),
                    set_cell("blocks.1.attn.pattern", [0, 0, 3, 1], 0.9),
                    set_cell("blocks.1.attn_out", [0, 4, 6], 0.25), set_cell("blocks.1.mlp_out", [0, 4, 7], 0.25),
                    set_cell("ln_final.scale", [1, 0, 0], 3.0), set_cell("ln_final.normalized", [0, 4, 0], 0.125),
                    set_cell("logits", [0, 0, 8], 4.0), set_cell("probs", [1, 4, 0], 0.5),
                ])
    yield small("edits-cells-pre", "the same kinds under Pre-Norm, rmsnorm and learned positions",
                {**language_model, "norm_first": True, "norm": "rmsnorm", "positional_encoding": "learned",
                 "max_positions": 6}, text, edits=[
                    set_cell("pos_embed", [0, 0], 1.0), set_cell("blocks.0.ln1.scale", [0, 2, 0], 0.25),
                    set_cell("blocks.0.resid_mid", [1, 3, 2], -2.0), set_cell("blocks.0.ln2.scale", [1, 4, 0], 2.0),
                    set_cell("blocks.0.resid_post", [0, 4, 4], 1.0), set_cell("blocks.1.resid_pre", [0, 1, 0], 0.5),
                    set_cell("blocks.1.ln1.normalized", [0, 0, 0], -1.0),
                ])
    yield small("edits-encdec", "edits in an encoder and in cross-attention",
                {"cross_attention": True, "encoder_layers": 1, "num_layers": 1, "final_norm": True},
                {"x": x(), "memory": memory()}, edits=[
                    mask_edit("encoder.blocks.0.attn", "*", "*", "*", 2, False),
                    scale_head("encoder.blocks.0.attn", 0, 2.0),
                    set_cell("encoder.ln_final.scale", [0, 1, 0], 0.5),
                    set_cell("encoder_out", [1, 5, 3], 1.5),
                    mask_edit("blocks.0.cross_attn", 1, "*", 0, 5, False),
                    scale_head("blocks.0.cross_attn", 1, 0.5),
                    set_cell("blocks.0.cross_attn.v", [0, 0, 5, 1], 1.0),
                    set_cell("blocks.0.cross_attn_out", [0, 0, 0], 1.0),
                    set_cell("blocks.0.resid_mid_cross", [0, 3, 3], -1.0),
                ])
    yield small("edits-dropout", "edits of dropout masks, of what they leave, and of what they act on",
                {"dropout": 0.25, "num_layers": 1}, {"x": x()}, dropout_seed=8, edits=[
                    set_cell("blocks.0.attn.pattern", [0, 1, 3, 0], 0.7),
                    set_cell("blocks.0.attn.pattern.dropout_mask", [1, 0, 4, 1], 0.0),
                    set_cell("blocks.0.attn_out.dropped", [0, 0, 0], 1.0),
                    set_cell("blocks.0.mlp_out.dropout_mask", [1, 1, 1], 2.0),
                ])
    yield small("edits-formulas", "steps rewritten, in every layer and in one; rows that read them, and one that must hold",
                {**language_model, "norm_first": True}, text, edits=[
                    {"edit": "formula", "step": "blocks.*.attn.pattern", "formula": "softmax(2 * masked_scores, -1)"},
                    {"edit": "formula", "step": "blocks.0.mlp.post", "formula": "relu(pre) ** 2"},
                    {"edit": "row", "name": "sharp", "of": "blocks.*.attn", "formula": "(pattern * pattern).sum(-1)"},
                    {"edit": "row", "name": "twice", "of": "blocks.1.attn", "formula": "2 * sharp"},
                    {"edit": "row", "name": "low", "formula": "abs(logits) < 100", "must_hold": True},
                ])
    yield small("edits-result", "a cell of attn.result set: attn_out is the sum of the results",
                {"num_layers": 1}, {"x": x()}, asked=["blocks.0.attn.result"],
                edits=[set_cell("blocks.0.attn.result", [0, 1, 2, 5], 3.0), scale_head("blocks.0.attn", 0, 0.5)])


def results():
    yield small("result-asked", "attn.result requested, right after attn.z; a grouped-query cross-attention's, too",
                {"nhead": 4, "num_key_value_heads": 2, "cross_attention": True, "norm_first": True,
                 "num_layers": 1},
                {"x": x(), "memory": memory()}, asked=["blocks.0.attn.result", "blocks.0.cross_attn.result"])


def cases():
    for group in (architectures, soft_caps, parallel_blocks, families, norm_placements, positions_and_scales, memories, attention_only, masks, dropouts, edits, results):
        yield from group()
