"""Llama by its own names, with RoPE over neighbouring columns: llama2.c and gpt-fast."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from parts import Stack, attend, frequencies, logits_of, mlp, module, record, rms_norm, rotary, split, sums
from tutorials.common import heads, said

VOCABULARY, D, HEADS, KV, LAYERS, FF, EPS = 29, 16, 4, 2, 2, 24, 1e-5
WIDE, NARROW = D, D // HEADS * KV


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return rms_norm(at, x, self.weight, EPS)


class Block(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused
        linears = {"wqkv": WIDE + 2 * NARROW} if fused else {"wq": WIDE, "wk": NARROW, "wv": NARROW}
        self.attention = module(**{name: nn.Linear(D, width, bias=False) for name, width in linears.items()},
                                wo=nn.Linear(D, D, bias=False))
        self.feed_forward = module(w1=nn.Linear(D, FF, bias=False), w2=nn.Linear(FF, D, bias=False),
                                   w3=nn.Linear(D, FF, bias=False))
        self.attention_norm, self.ffn_norm = Norm(), Norm()

    def attend(self, at, h, keep):
        a, turn = self.attention, rotary(frequencies(D // HEADS, 10000.0), interleaved=True)
        q, k, v = a.wqkv(h).split((WIDE, NARROW, NARROW), -1) if self.fused else (a.wq(h), a.wk(h), a.wv(h))
        return record(f"{at}_out", a.wo(attend(at, turn(split(q, HEADS)), turn(split(k, KV)), split(v, KV), keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        f = self.feed_forward
        return sums(at, x, [("resid_mid", lambda h: self.attend(f"{at}.attn", h, keep), self.attention_norm),
                            ("resid_post", lambda h: mlp(at, h, f.w3, f.w2, F.silu, f.w1), self.ffn_norm)], "pre")


class Llama(nn.Module):
    def __init__(self, fused, tied):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, D)
        self.layers = nn.ModuleList([Block(fused) for _ in range(LAYERS)])
        self.norm, self.output = Norm(), nn.Linear(D, VOCABULARY, bias=False)
        if tied:
            self.tok_embeddings.weight = self.output.weight

    def forward(self, inputs):
        return logits_of(inputs, self.output, Stack(lambda prefix, tokens: record("embed", self.tok_embeddings(tokens)),
                                                    list(self.layers), self.norm))


def case(name, title, repository, fused, tied, prefix=""):
    found, skipped = {"tok_embeddings.weight": "embed.weight", "norm.weight": "norm.weight"}, {}
    for layer in range(LAYERS):
        theirs, ours = f"layers.{layer}.", f"layers.{layer}."
        if fused:
            found[theirs + "attention.wqkv.weight"] = ours + "self_attn.{q,k,v}_proj.weight"
        else:
            for letter in "qkv":
                found[f"{theirs}attention.w{letter}.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        found[theirs + "attention.wo.weight"] = ours + "self_attn.o_proj.weight"
        for part, our in (("w1", "gate"), ("w2", "down"), ("w3", "up")):
            found[f"{theirs}feed_forward.{part}.weight"] = f"{ours}{our}_proj.weight"
        found[theirs + "attention_norm.weight"] = ours + "norm1.weight"
        found[theirs + "ffn_norm.weight"] = ours + "norm2.weight"
    if tied:
        skipped["output.weight"] = "the same numbers as tok_embeddings.weight: the head is tied"
    else:
        found["output.weight"] = "lm_head.weight"
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "num_key_value_heads": KV,
            "dim_feedforward": FF, "norm_first": True, "norm": "rmsnorm", "layer_norm_eps": EPS, "final_norm": True,
            "activation": "silu", "gated_mlp": True, "bias": False, "vocab_size": VOCABULARY,
            "positional_encoding": "rope",
            "rope_interleaved": True, "lm_head": True, "tie_word_embeddings": tied}
    assumes = {"rope_interleaved": said(True,
                                        "wq and w1 are Llama's own names, whose RoPE turns neighbouring columns; the "
                                        "tensors don't say"),
               "norm_first": said(True, "the tensors are the same under Post-Norm"),
               "layer_norm_eps": said(EPS, "it isn't in the tensors"),
               "rope_theta": said(10000.0, "it isn't in the tensors"),
               "activation": said("silu", "it isn't in the tensors")}
    return Case(name, title, {"repository": repository, "paper": "arXiv:2307.09288"}, Llama(fused, tied),
                some_inputs(name, VOCABULARY), ours, {prefix + key: value for key, value in found.items()},
                asks=heads(HEADS),
                assumes=assumes, skipped={prefix + key: value for key, value in skipped.items()}, prefix=prefix)


def cases():
    return [case("llama2.c", "llama2.c, compiled", "karpathy/llama2.c", False, True, "_orig_mod."),
            case("gpt-fast", "gpt-fast: q, k and v in one matrix, with grouped queries", "pytorch-labs/gpt-fast", True,
                 False)]
