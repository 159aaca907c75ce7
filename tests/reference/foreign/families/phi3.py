"""Phi-3, with LongRoPE and without: Llama's block with q, k and v in one matrix, and gate and up in one."""

import math

import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.llama_family import config_json
from families.llama_like import LlamaLike, Norm, our_config
from parts import attend, frequencies, mlp, module, record, rotary, split, sums, window


class Block(nn.Module):
    def __init__(self, c, layer, size):
        super().__init__()
        self.c, self.window, self.turn = c, size, c["turns"][layer]
        wide, narrow = c["heads"] * c["d_head"], c["kv_heads"] * c["d_head"]
        self.widths = wide, narrow, narrow
        self.self_attn = module(o_proj=nn.Linear(wide, c["d_model"], bias=False),
                                qkv_proj=nn.Linear(c["d_model"], wide + 2 * narrow, bias=False))
        self.mlp = module(gate_up_proj=nn.Linear(c["d_model"], 2 * c["d_ff"], bias=False),
                          down_proj=nn.Linear(c["d_ff"], c["d_model"], bias=False))
        self.input_layernorm, self.post_attention_layernorm = Norm(c["d_model"], c["eps"]), Norm(c["d_model"], c["eps"])

    def attention(self, at, h, keep):
        c, turn = self.c, self.turn
        q, k, v = self.self_attn.qkv_proj(h).split(self.widths, -1)
        z = attend(at, turn(split(q, c["heads"])), turn(split(k, c["kv_heads"])), split(v, c["kv_heads"]), keep)
        return record(f"{at}_out", self.self_attn.o_proj(z))

    def feed_forward(self, at, h):
        both = self.mlp.gate_up_proj(h)
        half = self.c["d_ff"]
        return mlp(at, h, lambda _: both[..., half:], self.mlp.down_proj, F.silu, lambda _: both[..., :half])

    def forward(self, at, x, keep, memory, memory_keep):
        keep = keep & window(x.size(1), self.window) if self.window else keep
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), self.input_layernorm),
                            ("resid_post", lambda h: self.feed_forward(at, h), self.post_attention_layernorm)], "pre")


def names(layers):
    found = {"model.embed_tokens.weight": "embed.weight", "model.norm.weight": "norm.weight",
             "lm_head.weight": "lm_head.weight"}
    for layer in range(layers):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        found[theirs + "self_attn.qkv_proj.weight"] = ours + "self_attn.{q,k,v}_proj.weight"
        found[theirs + "self_attn.o_proj.weight"] = ours + "self_attn.o_proj.weight"
        found[theirs + "mlp.gate_up_proj.weight"] = ours + "{gate,up}_proj.weight"
        found[theirs + "mlp.down_proj.weight"] = ours + "down_proj.weight"
        found[theirs + "input_layernorm.weight"] = ours + "norm1.weight"
        found[theirs + "post_attention_layernorm.weight"] = ours + "norm2.weight"
    return found


def case(name, title, model, positions, hf, ours, **more):
    config = config_json("Phi3ForCausalLM", "phi3", model, positions, embd_pdrop=0.0, resid_pdrop=0.0, pad_token_id=28,
                         **hf)
    return Case(name, title, {"repository": "huggingface/transformers", "paper": "arXiv:2404.14219"}, model,
                some_inputs(name, model.c["vocabulary"]), our_config(model, positions, **ours), names(2),
                config_json=config, **more)


def longrope(name, title, original, five):
    """Phi-4-mini's form: three quarters of a head turn. The text is longer than `original`, or it isn't."""
    short, long = [1.0, 1.25, 1.5], [1.5, 4.0, 9.0]
    factor = math.sqrt(1 + math.log(64 / original) / math.log(original))
    divisors = long if original < 7 else short
    turned = [base / divisor for base, divisor in zip(frequencies(6, 100.0).tolist(), divisors)]
    import torch
    turn = rotary(torch.tensor(turned), factor=factor)
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1e-5, theta=100.0, turns=[turn] * 2, block=Block)
    hf = {"sliding_window": None, "original_max_position_embeddings": original, "partial_rotary_factor": 0.75}
    if five:
        hf.update(rope_theta="absent", rope_scaling="absent", torch_dtype="absent", dtype="float32",
                  transformers_version="5.0.0", partial_rotary_factor="absent",
                  rope_parameters={"long_factor": long, "short_factor": short, "rope_type": "longrope",
                                   "rope_theta": 100.0, "partial_rotary_factor": 0.75,
                                   "original_max_position_embeddings": original})
    else:
        hf["rope_scaling"] = {"long_factor": long, "short_factor": short, "type": "longrope"}
    ours = {"rotary_dim": 6, "rope_scaling": "longrope", "rope_factor": 64 / original, "rope_original_positions": original,
            "rope_short_factors": short, "rope_long_factors": long}
    refuses = {} if five else {"rope_scaling": {
        "value": {"long_factor": long[:2], "short_factor": short[:2], "type": "longrope"}, "because": "a factor a pair"}}
    return case(name, title, model, 64, hf, ours, refuses=refuses)


def cases():
    plain = LlamaLike(kv_heads=2, eps=1e-5, windows=(4, 4), block=Block)
    return [case("phi3", "Phi-3", plain, 64, {"sliding_window": 4, "original_max_position_embeddings": 64},
                 {"sliding_window": 4}),
            longrope("phi3-longrope", "Phi-3 and Phi-4-mini with LongRoPE, a long text", 4, False),
            longrope("phi3-longrope-5", "LongRoPE in rope_parameters, a text that isn't longer", 8, True)]
