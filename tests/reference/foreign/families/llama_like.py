"""The decoders that keep Llama's names: Llama, Mistral, Qwen 2 and 3, Gemma to Gemma 3, OLMo 2 and 3, SmolLM3, Granite.

Written from the papers and from the names, shapes and keys of Hugging Face's files.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from parts import (Stack, attend, frequencies, gelu_tanh, layer_norm, logits_of, mlp, module, record, rms_norm, rotary, split,
                   sums, window)

ACTIVATIONS = {"silu": F.silu, "gelu_tanh": gelu_tanh, "relu2": lambda x: F.relu(x) ** 2}


class Norm(nn.Module):
    """RMSNorm; Gemma's gain is 1 + weight, and its weight begins at zero."""

    def __init__(self, width, eps, plus_one=False):
        super().__init__()
        self.eps, self.plus_one = eps, plus_one
        self.weight = nn.Parameter(torch.zeros(width) if plus_one else torch.ones(width))

    def forward(self, at, x):
        return rms_norm(at, x, self.weight + 1 if self.plus_one else self.weight, self.eps)


class Centred(nn.Module):
    """LayerNorm: with gain and shift, with 1 + weight for a gain (Nemotron), or with neither (OLMo)."""

    def __init__(self, width, eps, kind):
        super().__init__()
        self.width, self.eps, self.kind = width, eps, kind
        if kind != "bare":
            self.weight = nn.Parameter(torch.zeros(width) if kind == "plus_one" else torch.ones(width))
            self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, at, x):
        if self.kind == "bare":
            return layer_norm(at, x, torch.ones(self.width), eps=self.eps)
        return layer_norm(at, x, self.weight + (self.kind == "plus_one"), self.bias, self.eps)


def norm_of(c):
    return Centred(c["d_model"], c["eps"], c["centred"]) if c["centred"] else Norm(c["d_model"], c["eps"], c["plus_one"])


class Xielu(nn.Module):
    """Huang & Schlag 2024, equation 3, with softplus before its two learned numbers as Apertus stores them."""

    def __init__(self):
        super().__init__()
        self.alpha_p, self.alpha_n = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
        self.register_buffer("beta", torch.tensor(0.5))
        self.register_buffer("eps", torch.tensor(-1e-6))

    def forward(self, x):
        rises, falls = F.softplus(self.alpha_p), self.beta + F.softplus(self.alpha_n)
        curve = torch.expm1(torch.minimum(x, self.eps)) - x
        return torch.where(x > 0, rises * x * x, falls * curve) + self.beta * x


class Attention(nn.Module):
    def __init__(self, c, turn):
        super().__init__()
        self.turn = turn
        d, wide, narrow = c["d_model"], c["heads"] * c["d_head"], c["kv_heads"] * c["d_head"]
        self.c = c
        self.q_proj = nn.Linear(d, wide, bias=c["qkv_bias"])
        self.k_proj = nn.Linear(d, narrow, bias=c["qkv_bias"])
        self.v_proj = nn.Linear(d, narrow, bias=c["qkv_bias"])
        self.o_proj = nn.Linear(wide, d, bias=c["out_bias"])
        if c["qk_norm"]:
            per_head = c["qk_norm"] != "width"
            for name, width in zip(c["qk_names"], (wide, narrow)):
                setattr(self, name, Norm(c["d_head"] if per_head else width, c["eps"], c["plus_one"]))
        if c["sinks"]:
            self.sinks = nn.Parameter(torch.zeros(c["heads"]))

    def forward(self, at, x, keep):
        c = self.c
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        norms = [getattr(self, name) for name in c["qk_names"]] if c["qk_norm"] else []
        if c["qk_norm"] == "width":
            q, k = (norm(None, x) for norm, x in zip(norms, (q, k)))
        if c["clip"]:
            q, k, v = (x.clamp(-c["clip"], c["clip"]) for x in (q, k, v))
        q, k, v = split(q, c["heads"]), split(k, c["kv_heads"]), split(v, c["kv_heads"])
        if c["qk_norm"] == "head":
            q, k = (norm(None, x) for norm, x in zip(norms, (q, k)))
        q, k = self.turn(q), self.turn(k)
        if c["qk_norm"] == "turned":
            q, k = (norm(None, x) for norm, x in zip(norms, (q, k)))
        if c["grows"]:
            by, length = c["grows"]
            q = q * (1 + by * torch.log(1 + torch.arange(q.size(-2)).div(length, rounding_mode="floor")))[:, None]
        sinks = self.sinks if c["sinks"] else None
        z = attend(at, q, k, v, keep, c["scale"], cap=c["cap"], sinks=sinks)
        return record(f"{at}_out", self.o_proj(z))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, ff, bias = c["d_model"], c["d_ff"], c["mlp_bias"]
        self.gated = c["gated"]
        self.act_fn = Xielu() if c["activation"] == "xielu" else ACTIVATIONS[c["activation"]]
        if self.gated:
            self.gate_proj = nn.Linear(d, ff, bias=bias)
        self.up_proj, self.down_proj = nn.Linear(d, ff, bias=bias), nn.Linear(ff, d, bias=bias)

    def forward(self, at, x):
        return mlp(at, x, self.up_proj, self.down_proj, self.act_fn, self.gate_proj if self.gated else None)

    def names(self, theirs, ours):
        found = {theirs + name: ours + name for name in self.state_dict() if not name.startswith("act_fn.")}
        if isinstance(self.act_fn, Xielu):
            found.update({f"{theirs}act_fn.{name}": f"{ours}xielu.{name}" for name in ("alpha_p", "alpha_n")})
        return found


NORMS = {
    "pre": ("input_layernorm", "post_attention_layernorm"),
    "named": ("attention_layernorm", "feedforward_layernorm"),  # pre, too
    "reordered": ("post_attention_layernorm", "post_feedforward_layernorm"),
    "peri": ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"),
}


class Block(nn.Module):
    def __init__(self, c, layer, size):
        super().__init__()
        self.c, self.place, self.window = c, c["place"], size
        self.self_attn = Attention(c, c["turns"][layer])
        setattr(self, c["mlp_name"], c["feed_forward"](c, layer))
        for name in NORMS[c["place"]]:
            setattr(self, name, norm_of(c))

    def forward(self, at, x, keep, memory, memory_keep):
        if self.window:
            keep = keep & window(x.size(1), self.window)
        norms = [getattr(self, name) for name in NORMS[self.place]]
        half = len(norms) // 2
        return sums(at, x, [("resid_mid", lambda h: self.self_attn(f"{at}.attn", h, keep), *norms[:half]),
                            ("resid_post", lambda h: getattr(self, self.c["mlp_name"])(at, h), *norms[half:])],
                    "pre" if self.place == "named" else self.place, self.c["update"])


DEFAULTS = {"d_model": 16, "heads": 4, "kv_heads": 4, "d_head": 4, "layers": 2, "d_ff": 24, "vocabulary": 29,
            "eps": 1e-6,
            "theta": 10000.0, "plus_one": False, "activation": "silu", "qkv_bias": False, "qk_norm": None,
            "place": "pre",
            "windows": (), "scale": None, "cap": None, "logit_cap": None, "scale_embedding": False, "tied": False,
            "frequencies": None, "turns": None, "out_bias": False, "sinks": False, "update": 1.0, "embedding_scale": 1.0,
            "logit_scale": 1.0, "mlp_bias": False, "gated": True, "centred": None, "clip": None, "grows": None,
            "qk_names": ("q_norm", "k_norm"), "head_bias": False, "feed_forward": lambda c, layer: Mlp(c), "mlp_name": "mlp", "block": Block}


class LlamaLike(nn.Module):
    def __init__(self, **chosen):
        super().__init__()
        self.c = c = {**DEFAULTS, **chosen}
        if c["frequencies"] is None:
            c["frequencies"] = frequencies(c["d_head"], c["theta"])
        if c["turns"] is None:
            c["turns"] = [rotary(c["frequencies"])] * c["layers"]
        windows = c["windows"] or (0,) * c["layers"]
        self.model = module(embed_tokens=nn.Embedding(c["vocabulary"], c["d_model"]),
                            layers=nn.ModuleList([c["block"](c, layer, size) for layer, size in enumerate(windows)]),
                            norm=norm_of(c))
        self.lm_head = nn.Linear(c["d_model"], c["vocabulary"], bias=c["head_bias"])
        if c["tied"]:
            self.lm_head.weight = self.model.embed_tokens.weight

    def embed(self, prefix, tokens):
        x = self.model.embed_tokens(tokens)
        x = x * math.sqrt(self.c["d_model"]) if self.c["scale_embedding"] else x
        return record(prefix + "embed", x * self.c["embedding_scale"])

    def head(self, x):
        logits, cap = self.lm_head(x) * self.c["logit_scale"], self.c["logit_cap"]
        return cap * torch.tanh(logits / cap) if cap else logits

    def forward(self, inputs):
        return logits_of(inputs, self.head, Stack(self.embed, list(self.model.layers), self.model.norm))


OUR_NORMS = {"pre": ("norm1", "norm2"), "named": ("norm1", "norm2"), "reordered": ("norm1_post", "norm2_post"),
             "peri": ("norm1", "norm1_post", "norm2", "norm2_post")}


def names(model):
    """Their names -> ours."""
    c = model.c
    found = {"model.embed_tokens.weight": "embed.weight"}
    for layer in range(c["layers"]):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        for letter in "qkvo":
            for ending in ["weight"] + ["bias"] * (c["out_bias"] if letter == "o" else c["qkv_bias"]):
                found[f"{theirs}self_attn.{letter}_proj.{ending}"] = f"{ours}self_attn.{letter}_proj.{ending}"
        if c["qk_norm"]:
            for letter, name in zip("qk", c["qk_names"]):
                found[f"{theirs}self_attn.{name}.weight"] = f"{ours}self_attn.{letter}_norm.weight"
        if c["sinks"]:
            found[theirs + "self_attn.sinks"] = ours + "self_attn.sinks"
        found.update(getattr(model.model.layers[layer], c["mlp_name"]).names(f"{theirs}{c['mlp_name']}.", ours))
        for name, norm in zip(NORMS[c["place"]], OUR_NORMS[c["place"]]):
            for part in getattr(model.model.layers[layer], name).state_dict():
                found[f"{theirs}{name}.{part}"] = f"{ours}{norm}.{part}"
    for part in model.model.norm.state_dict():
        found[f"model.norm.{part}"] = f"norm.{part}"
    if not c["tied"]:
        found["lm_head.weight"] = "lm_head.weight"
    if c["head_bias"]:
        found["lm_head.bias"] = "lm_head.bias"
    return found


NORM_KINDS = {None: None, "whole": "layernorm", "bare": "layernorm", "plus_one": "layernorm_plus_one"}


def our_config(model, max_positions, **more):
    c = model.c
    config = {"model_type": "decoderscope", "d_model": c["d_model"], "nhead": c["heads"], "num_layers": c["layers"],
              "num_key_value_heads": c["kv_heads"], "dim_feedforward": c["d_ff"], "norm_first": True,
              "norm": NORM_KINDS[c["centred"]] or ("rmsnorm_plus_one" if c["plus_one"] else "rmsnorm"), "layer_norm_eps": c["eps"],
              "final_norm": True,
              "activation": c["activation"], "gated_mlp": c["gated"],
              "bias": bool(c["qkv_bias"] or c["out_bias"] or c["mlp_bias"] or c["head_bias"] or c["centred"] in ("whole", "plus_one")), "vocab_size": c["vocabulary"],
              "positional_encoding": "rope", "max_positions": max_positions, "rope_theta": c["theta"], "lm_head": True,
              "tie_word_embeddings": c["tied"]}
    config.update({"norm_gain": False} if c["centred"] == "bare" else {}, **({"clip_qkv": c["clip"]} if c["clip"] else {}))
    if c["grows"]:
        config["query_scale_beta"], config["query_scale_positions"] = c["grows"]
    if c["qk_norm"] == "turned":
        config.update(qk_norm=True, qk_norm_after_rope=True)
    if c["d_head"] * c["heads"] != c["d_model"]:
        config["head_dim"] = c["d_head"]
    return {**config, **more}
