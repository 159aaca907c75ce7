"""The five seed models as the program bundles them: configuration, weights seed, example inputs.

Weights are `initial_weights(config, weights_seed)`; example inputs come from the same seed and their own names.
"""

import numpy as np

import rng
from case import initial

THREE_PADDED = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], np.int64)

SIMPLE_DECODER = {
    "d_model": 64, "nhead": 8, "num_layers": 1, "dim_feedforward": 256, "norm_first": False, "layer_norm_eps": 1e-5,
    "activation": "relu", "bias": True, "causal": True, "mask_value": "-1e20",
    "dropout": 0.1, "dropout_sites": ["attention_weights", "mlp_out"],
}

# As written: q, k and v all come from q_proj, and dropout stands before the softmax.
CAUSAL_LM = {
    "d_model": 64, "nhead": 8, "num_layers": 5, "dim_feedforward": 256, "norm_first": False, "layer_norm_eps": 1e-6,
    "activation": "relu", "bias": True, "causal": True, "vocab_size": 12, "lm_head": True, "mask_value": "-inf",
    "dropout": 0.1, "dropout_sites": ["attention_scores", "mlp_out"], "shared_qkv": True,
}

CAUSAL_LM_AS_MEANT = {**CAUSAL_LM, "dropout_sites": ["attention_weights", "mlp_out"], "shared_qkv": False}

PRE_LN_ENCDEC = {
    "d_model": 512, "nhead": 8, "num_layers": 4, "dim_feedforward": 2048, "norm_first": True, "layer_norm_eps": 1e-5,
    "final_norm": True, "activation": "relu", "bias": True, "causal": True, "cross_attention": True,
    "mask_value": "-1e9", "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_out"],
}

PRE_LN_LAYER = {
    "d_model": 64, "nhead": 4, "num_layers": 1, "dim_feedforward": 256, "norm_first": True, "layer_norm_eps": 1e-5,
    "activation": "relu", "bias": True, "causal": True, "cross_attention": True, "mask_value": "-inf",
    "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_post", "mlp_out"],
}

POST_LN_ENCDEC = {
    "d_model": 64, "nhead": 4, "num_layers": 2, "dim_feedforward": 256, "norm_first": False, "layer_norm_eps": 1e-5,
    "final_norm": True, "activation": "relu", "bias": True, "causal": True, "cross_attention": True,
    "encoder_layers": 2, "vocab_size": 24, "encoder_vocab_size": 24, "positional_encoding": "sinusoidal",
    "lm_head": True, "mask_value": "-1e9", "dropout": 0.1, "dropout_sites": ["attention_out", "mlp_out"],
}


def vectors(seed, name, shape):
    return rng.normals(seed, name, shape).astype(np.float32)


def ones_then_zeros(length, *kept):
    """A padding mask: so many ones in each row, the rest zeros."""
    return np.array([[1] * n + [0] * (length - n) for n in kept], np.int64)


def simple_decoder(name="simple-decoder", **rest):
    x = rng.uniforms(0, "x", (3, 4, 64)).astype(np.float32)
    return initial(name, "seed 000: one Post-Norm block on vectors", SIMPLE_DECODER, 0,
                   {"x": x, "attention_mask": THREE_PADDED}, bundled="simple-decoder", **rest)


def causal_lm(name, about, config):
    tokens = rng.integers(1, "tokens", (3, 4), 12)
    return initial(name, about, config, 1, {"tokens": tokens, "attention_mask": THREE_PADDED}, bundled=name)


def pre_ln_encdec():
    # Seed 002's masks say 1 for padding; these are their opposites.
    inputs = {
        "x": vectors(2, "x", (2, 6, 512)), "memory": vectors(2, "memory", (2, 8, 512)),
        "attention_mask": ones_then_zeros(6, 3, 5), "encoder_attention_mask": ones_then_zeros(8, 6, 7),
    }
    return initial("pre-ln-encdec", "seed 002: four Pre-Norm blocks that attend to a memory", PRE_LN_ENCDEC, 2, inputs,
                   bundled="pre-ln-encdec")


def pre_ln_layer():
    inputs = {"x": vectors(3, "x", (1, 6, 64)), "memory": vectors(3, "memory", (1, 8, 64))}
    return initial("pre-ln-layer", "seed 003: one Pre-Norm block that attends to a memory", PRE_LN_LAYER, 3, inputs,
                   bundled="pre-ln-layer")


def post_ln_encdec():
    inputs = {
        "tokens": rng.integers(4, "tokens", (2, 7), 24),
        "encoder_tokens": rng.integers(4, "encoder_tokens", (2, 7), 24),
        "attention_mask": ones_then_zeros(7, 7, 5), "encoder_attention_mask": ones_then_zeros(7, 7, 4),
    }
    return initial("post-ln-encdec", "seed 004: a Post-Norm encoder-decoder on tokens", POST_LN_ENCDEC, 4, inputs,
                   bundled="post-ln-encdec")


def cases():
    return [
        simple_decoder(),
        causal_lm("causal-lm", "seed 001 as it is written: k and v use q_proj, dropout before the softmax", CAUSAL_LM),
        causal_lm("causal-lm-as-meant", "seed 001 as it was meant", CAUSAL_LM_AS_MEANT),
        pre_ln_encdec(),
        pre_ln_layer(),
        post_ln_encdec(),
    ]
