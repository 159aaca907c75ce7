"""The configuration's keys and defaults, and the parameters that a configuration asks for."""

REQUIRED = ("d_model", "nhead", "num_layers")
DEFAULTS = {
    "num_key_value_heads": None,  # nhead
    "dim_feedforward": None,  # 4 · d_model
    "norm_first": False,
    "norm": "layernorm",
    "layer_norm_eps": 1e-5,
    "final_norm": False,
    "activation": "relu",
    "gated_mlp": False,
    "bias": True,
    "causal": True,
    "cross_attention": False,
    "encoder_layers": 0,
    "vocab_size": 0,
    "encoder_vocab_size": None,  # vocab_size
    "positional_encoding": "none",
    "max_positions": 0,
    "rope_theta": 10000.0,
    "scale_embedding": False,
    "lm_head": False,
    "tie_word_embeddings": False,
    "mask_value": "-inf",
    "parallel_residual": "none",
    "attention_soft_cap": 0.0,
    "logit_soft_cap": 0.0,
    "dropout": 0.0,
    "dropout_sites": ["attention_weights", "attention_out", "mlp_out"],
    "shared_qkv": False,
}


def complete(config):
    """The configuration with every key present."""
    given = {key: value for key, value in config.items() if key != "model_type"}
    unknown = set(given) - set(REQUIRED) - set(DEFAULTS)
    if unknown:
        raise KeyError(f"unknown configuration keys: {sorted(unknown)}")
    full = {**DEFAULTS, **given}
    computed = {
        "num_key_value_heads": full["nhead"],
        "dim_feedforward": 4 * full["d_model"],
        "encoder_vocab_size": full["vocab_size"],
    }
    for key, value in computed.items():
        if full[key] is None:
            full[key] = value
    return full


def encoder_config(c):
    """The encoder's blocks are the decoder's, without a look at a memory and free to look ahead."""
    return {**c, "num_layers": c["encoder_layers"], "causal": False, "cross_attention": False}


def parameters(config):
    """Every parameter as (canonical name, shape, kind, fan-in); kind is linear, embedding, gain or shift."""
    c = complete(config)
    found = []
    if c["encoder_layers"] > 0:
        found += _stack_parameters(encoder_config(c), "encoder.", c["encoder_vocab_size"])
    found += _stack_parameters(c, "", c["vocab_size"])
    if c["lm_head"]:
        head = _linear(c, "lm_head", c["vocab_size"], c["d_model"])
        found += [p for p in head if not (c["tie_word_embeddings"] and p[0] == "lm_head.weight")]
    return found


def _stack_parameters(c, prefix, vocab_size):
    d = c["d_model"]
    found = []
    if vocab_size > 0:
        found.append((prefix + "embed.weight", (vocab_size, d), "embedding", d))
    if c["positional_encoding"] == "learned":
        found.append((prefix + "pos_embed.weight", (c["max_positions"], d), "embedding", d))
    for layer in range(c["num_layers"]):
        found += _block_parameters(c, f"{prefix}layers.{layer}.")
    if c["final_norm"]:
        found += _norm(c, prefix + "norm")
    return found


def _block_parameters(c, prefix):
    d, ff = c["d_model"], c["dim_feedforward"]
    kv = d // c["nhead"] * c["num_key_value_heads"]
    attentions = ["self_attn", "cross_attn"] if c["cross_attention"] else ["self_attn"]
    found = []
    for attention in attentions:
        for projection, width in (("q", d), ("k", kv), ("v", kv), ("o", d)):
            found += _linear(c, f"{prefix}{attention}.{projection}_proj", width, d)
    if ff > 0:
        found += _linear(c, prefix + "up_proj", ff, d)
        if c["gated_mlp"]:
            found += _linear(c, prefix + "gate_proj", ff, d)
        found += _linear(c, prefix + "down_proj", d, ff)
    for n in range(len(attentions) + (ff > 0 and c["parallel_residual"] != "one_norm")):
        found += _norm(c, f"{prefix}norm{n + 1}")
    return found


def _linear(c, name, width, fan_in):
    weight = (name + ".weight", (width, fan_in), "linear", fan_in)
    bias = (name + ".bias", (width,), "linear", fan_in)
    return [weight, bias] if c["bias"] else [weight]


def _norm(c, name):
    weight = (name + ".weight", (c["d_model"],), "gain", 1)
    bias = (name + ".bias", (c["d_model"],), "shift", 1)
    return [weight, bias] if c["bias"] and c["norm"] == "layernorm" else [weight]
