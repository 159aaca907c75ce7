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
    "dropout": 0.0,
    "dropout_sites": ["attention_weights", "attention_out", "mlp_out"],
    "head_dim": 0,  # d_model / nhead
    "attention_scale": 0.0,  # 1 / sqrt(d_head)
    "logit_scale": 1.0,
    "position_scale": 1.0,
    "embedding_norm": False,
    "rope_interleaved": False,
    "rotary_dim": 0,  # all of d_head
    "rope_scaling": "none",
    "rope_factor": 1.0,
    "rope_low_freq_factor": 1.0,
    "rope_high_freq_factor": 4.0,
    "rope_original_positions": 0,
    "norm_placement": None,  # what norm_first says
    "residual_scale": 1.0,
    "parallel_residual": "none",
    "qk_norm": False,
    "qk_norm_across_heads": False,
    "attention_soft_cap": 0.0,
    "logit_soft_cap": 0.0,
    "sliding_window": 0,  # all positions
    "sliding_window_layers": [],  # all layers
    "alibi": False,
    "relative_attention_num_buckets": 0,  # none
    "relative_attention_max_distance": 128,
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
        "norm_placement": "pre" if full["norm_first"] else "post",
    }
    for key, value in computed.items():
        if full[key] is None:
            full[key] = value
    return full


def head_width(c):
    """d_head."""
    return c["head_dim"] or c["d_model"] // c["nhead"]


def encoder_config(c):
    """The encoder's blocks are the decoder's, without a look at a memory and free to look ahead and back."""
    return {**c, "num_layers": c["encoder_layers"], "causal": False, "cross_attention": False, "sliding_window": 0}


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
    if c["embedding_norm"]:
        found += _norm(c, prefix + "embed_norm")
    if c["relative_attention_num_buckets"] > 0:
        found.append((prefix + "relative_bias.weight", (c["relative_attention_num_buckets"], c["nhead"]), "embedding", d))
    for layer in range(c["num_layers"]):
        found += _block_parameters(c, f"{prefix}layers.{layer}.")
    if c["final_norm"]:
        found += _norm(c, prefix + "norm")
    return found


def _block_parameters(c, prefix):
    d, ff = c["d_model"], c["dim_feedforward"]
    heads = {"q": c["nhead"], "k": c["num_key_value_heads"], "v": c["num_key_value_heads"]}
    width = {name: count * head_width(c) for name, count in heads.items()}
    attentions = ["self_attn", "cross_attn"] if c["cross_attention"] else ["self_attn"]
    found = []
    for attention in attentions:
        for name in "qkv":
            found += _linear(c, f"{prefix}{attention}.{name}_proj", width[name], d)
        if c["qk_norm"] and attention == "self_attn":
            for name in "qk":
                gain = (width[name] if c["qk_norm_across_heads"] else head_width(c),)
                found.append((f"{prefix}{attention}.{name}_norm.weight", gain, gain_kind(c), 1))
        found += _linear(c, f"{prefix}{attention}.o_proj", d, width["q"])
    if ff > 0:
        found += _linear(c, prefix + "up_proj", ff, d)
        if c["gated_mlp"]:
            found += _linear(c, prefix + "gate_proj", ff, d)
        found += _linear(c, prefix + "down_proj", d, ff)
    for n in range(len(attentions) + (ff > 0 and c["parallel_residual"] != "one_norm")):
        if c["norm_placement"] != "reordered":
            found += _norm(c, f"{prefix}norm{n + 1}")
        if c["norm_placement"] in ("peri", "reordered"):
            found += _norm(c, f"{prefix}norm{n + 1}_post")
    return found


def gain_kind(c):
    """A weight that 1 is added to begins at 0, as a shift does."""
    return "shift" if c["norm"] == "rmsnorm_plus_one" else "gain"


def _linear(c, name, width, fan_in):
    weight = (name + ".weight", (width, fan_in), "linear", fan_in)
    bias = (name + ".bias", (width,), "linear", fan_in)
    return [weight, bias] if c["bias"] else [weight]


def _norm(c, name):
    weight = (name + ".weight", (c["d_model"],), gain_kind(c), 1)
    bias = (name + ".bias", (c["d_model"],), "shift", 1)
    return [weight, bias] if c["bias"] and c["norm"].startswith("layernorm") else [weight]
