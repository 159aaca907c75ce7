"""The configuration's keys and defaults, and the parameters that a configuration asks for."""

REQUIRED = ("d_model", "nhead", "num_layers")
DEFAULTS = {
    "num_key_value_heads": None,  # nhead
    "dim_feedforward": None,  # 4 · d_model
    "norm_first": False,
    "norm": "layernorm",
    "norm_gain": True,
    "layer_norm_eps": 1e-5,
    "final_norm": False,
    "activation": "relu",
    "gated_mlp": False,
    "swiglu_alpha": 1.702,
    "swiglu_limit": 7.0,
    "bias": True,
    "causal": True,
    "cross_attention": False,
    "encoder_layers": 0,
    "vocab_size": 0,
    "encoder_vocab_size": None,  # vocab_size
    "positional_encoding": "none",
    "max_positions": 0,
    "positions": "plain",
    "rope_theta": 10000.0,
    "rope_local_theta": 0.0,  # as elsewhere
    "rope_layers": [],  # all layers
    "scale_embedding": False,
    "embedding_scale": 1.0,
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
    "rope_beta_fast": 32.0,
    "rope_beta_slow": 1.0,
    "rope_truncate": True,
    "rope_attention_factor": 0.0,  # the scaling's own
    "rope_short_factors": [],
    "rope_long_factors": [],
    "norm_placement": None,  # what norm_first says
    "residual_scale": 1.0,
    "update_scale": 1.0,
    "layer_scale": False,
    "parallel_residual": "none",
    "qk_norm": False,
    "qk_norm_across_heads": False,
    "qk_norm_after_rope": False,
    "clip_qkv": 0.0,  # not clipped
    "query_scale_beta": 0.0,  # not scaled by position
    "query_scale_positions": 0,
    "attention_soft_cap": 0.0,
    "logit_soft_cap": 0.0,
    "sliding_window": 0,  # all positions
    "sliding_window_layers": [],  # all layers
    "alibi": False,
    "alibi_scaled": False,
    "relative_attention_num_buckets": 0,  # none
    "relative_attention_max_distance": 128,
    "shared_qkv": False,
    "attention_sinks": False,
    "kv_lora_rank": 0,  # no latent attention
    "q_lora_rank": 0,  # queries are projected at once
    "qk_rope_head_dim": 0,
    "v_head_dim": 0,  # d_head
    "experts": 0,  # dense MLPs
    "experts_per_token": 0,
    "expert_dim_feedforward": 0,  # dim_feedforward
    "moe_layers": [],  # all layers
    "router": "softmax",
    "router_jitter": 0.01,  # of sparsemixer
    "router_normalize": False,
    "router_scale": 1.0,
    "router_groups": 1,
    "router_top_groups": 1,
    "router_group_best": 2,
    "shared_dim_feedforward": 0,  # no shared MLP
    "shared_gate": False,
    "arithmetic": "float32",
    "norm_cast": None,  # before_gain; after_gain where the gain is 1 + weight
    "router_float32": False,
    "logits_float32": False,
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
    if full["experts"] > 0 and full["expert_dim_feedforward"] == 0:
        full["expert_dim_feedforward"] = full["dim_feedforward"]
    if full["kv_lora_rank"] > 0:
        full["v_head_dim"] = full["v_head_dim"] or head_width(full)
        assert full["num_key_value_heads"] == full["nhead"] and not full["shared_qkv"] and not full["qk_norm"]
    return full


def head_width(c):
    """d_head."""
    return c["head_dim"] or c["d_model"] // c["nhead"]


def is_mixture(c, layer):
    """Whether a layer's MLP is a mixture of experts."""
    return c["experts"] > 0 and (not c["moe_layers"] or layer in c["moe_layers"])


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
        found += _block_parameters(c, f"{prefix}layers.{layer}.", is_mixture(c, layer))
    if c["final_norm"]:
        found += _norm(c, prefix + "norm")
    return found


def _block_parameters(c, prefix, mixture):
    attentions = ["self_attn", "cross_attn"] if c["cross_attention"] else ["self_attn"]
    found = []
    for attention in attentions:
        latent = c["kv_lora_rank"] > 0 and attention == "self_attn"
        found += (_latent_attention if latent else _attention)(c, prefix + attention)
    if c["dim_feedforward"] > 0:
        found += _mixture(c, prefix) if mixture else _mlp(c, prefix, c["dim_feedforward"])
    for n in range(len(attentions) + (c["dim_feedforward"] > 0 and c["parallel_residual"] != "one_norm")):
        if c["norm_placement"] != "reordered":
            found += _norm(c, f"{prefix}norm{n + 1}")
        if c["norm_placement"] in ("peri", "reordered"):
            found += _norm(c, f"{prefix}norm{n + 1}_post")
    if c["layer_scale"]:
        found += [(f"{prefix}ls{n + 1}.weight", (c["d_model"],), "gain", 1)
                  for n in range(len(attentions) + (c["dim_feedforward"] > 0))]
    return found


def _attention(c, prefix):
    d, to_itself = c["d_model"], prefix.endswith("self_attn")
    heads = {"q": c["nhead"], "k": c["num_key_value_heads"], "v": c["num_key_value_heads"]}
    width = {name: count * head_width(c) for name, count in heads.items()}
    found = []
    for name in "qkv":
        found += _linear(c, f"{prefix}.{name}_proj", width[name], d)
    if c["qk_norm"] and to_itself:
        for name in "qk":
            found += _rms_gain(c, f"{prefix}.{name}_norm", width[name] if c["qk_norm_across_heads"] else head_width(c))
    return found + _linear(c, f"{prefix}.o_proj", d, width["q"]) + _sinks(c, prefix)


def _latent_attention(c, prefix):
    d, heads, rank, q_rank = c["d_model"], c["nhead"], c["kv_lora_rank"], c["q_lora_rank"]
    turned, found = c["qk_rope_head_dim"], []
    if q_rank > 0:
        found += _linear(c, f"{prefix}.q_down_proj", q_rank, d) + _rms_gain(c, f"{prefix}.q_down_norm", q_rank)
        found += _linear(c, f"{prefix}.q_up_proj", heads * head_width(c), q_rank)
    else:
        found += _linear(c, f"{prefix}.q_proj", heads * head_width(c), d)
    found += _linear(c, f"{prefix}.kv_down_proj", rank + turned, d) + _rms_gain(c, f"{prefix}.kv_down_norm", rank)
    found += _linear(c, f"{prefix}.k_up_proj", heads * (head_width(c) - turned), rank)
    found += _linear(c, f"{prefix}.v_up_proj", heads * c["v_head_dim"], rank)
    return found + _linear(c, f"{prefix}.o_proj", d, heads * c["v_head_dim"]) + _sinks(c, prefix)


def _sinks(c, prefix):
    to_itself = prefix.endswith("self_attn")
    return [(prefix + ".sinks", (c["nhead"],), "shift", 1)] if c["attention_sinks"] and to_itself else []


def _mlp(c, prefix, ff):
    found = _linear(c, prefix + "up_proj", ff, c["d_model"])
    if c["gated_mlp"]:
        found += _linear(c, prefix + "gate_proj", ff, c["d_model"])
    if c["activation"] == "xielu":
        found += [(f"{prefix}xielu.{name}", (1,), "gain", 1) for name in ("alpha_p", "alpha_n")]
    return found + _linear(c, prefix + "down_proj", c["d_model"], ff)


def _mixture(c, prefix):
    """A router, the experts' matrices stacked, and what stands beside them. A sigmoid's router has a correction here; a
    file may leave it out, or have one with a softmax."""
    d, experts, shared = c["d_model"], c["experts"], c["shared_dim_feedforward"]
    found = _linear(c, prefix + "router", experts, d)
    if c["router"] == "sigmoid":
        found.append((prefix + "router.correction", (experts,), "shift", 1))
    found += [(name, (experts, *shape), kind, fan_in)
              for name, shape, kind, fan_in in _mlp(c, prefix + "experts.", c["expert_dim_feedforward"])]
    if shared > 0:
        found += _mlp(c, prefix + "shared.", shared)
        if c["shared_gate"]:
            found.append((prefix + "shared_gate.weight", (1, d), "linear", d))
    return found


def gain_kind(c):
    """A weight that 1 is added to begins at 0, as a shift does."""
    return "shift" if c["norm"].endswith("_plus_one") else "gain"


def _linear(c, name, width, fan_in):
    weight = (name + ".weight", (width, fan_in), "linear", fan_in)
    bias = (name + ".bias", (width,), "linear", fan_in)
    return [weight, bias] if c["bias"] else [weight]


def _rms_gain(c, name, width):
    """The weight of a norm within attention, which is an RMSNorm always."""
    return [(name + ".weight", (width,), gain_kind(c), 1)] if c["norm_gain"] else []


def _norm(c, name):
    weight = (name + ".weight", (c["d_model"],), gain_kind(c), 1)
    bias = (name + ".bias", (c["d_model"],), "shift", 1)
    alpha = (name + ".alpha", (1,), "gain", 1)
    dynamic = c["norm"] == "dynamic_tanh"
    return [alpha] * dynamic + [weight] * c["norm_gain"] + [bias] * (c["bias"] and (dynamic or c["norm"].startswith("layernorm")))
