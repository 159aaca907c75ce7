"""nanochat (its first release) and modded-nanoGPT of autumn 2024: norms without gain, queries and keys normalised, relu²,
capped logits, and RoPE that turns the other way."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from parts import Stack, attend, frequencies, logits_of, mlp, module, record, rms_norm, rotary, split, sums
from tutorials.common import heads, said

D, HEADS, LAYERS, VOCABULARY = 16, 2, 2, 29
EPS = torch.finfo(torch.float32).eps  # F.rms_norm's where none is given


def norm(at, x):
    return rms_norm(at, x, torch.ones(x.size(-1)), EPS)


def turned_back(x):
    """y1 = x1 cos + x2 sin, y2 = −x1 sin + x2 cos: the usual turn of the two halves in the other order, and so it is recorded."""
    return rotary(frequencies(x.size(-1), 10000.0))(torch.cat(x.chunk(2, -1)[::-1], -1))


class Block(nn.Module):
    def __init__(self, kv_heads):
        super().__init__()
        self.kv_heads = kv_heads
        narrow = D // HEADS * kv_heads
        self.attn = module(**{name: nn.Linear(D, width, bias=False) for name, width in (
            ("c_q", D), ("c_k", narrow), ("c_v", narrow), ("c_proj", D))})
        self.mlp = module(c_fc=nn.Linear(D, 4 * D, bias=False), c_proj=nn.Linear(4 * D, D, bias=False))

    def attention(self, at, h, keep):
        a = self.attn
        q, k = norm(None, turned_back(split(a.c_q(h), HEADS))), norm(None, turned_back(split(a.c_k(h), self.kv_heads)))
        return record(f"{at}_out", a.c_proj(attend(at, q, k, split(a.c_v(h), self.kv_heads), keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), norm),
                            ("resid_post", lambda h: mlp(at, h, self.mlp.c_fc, self.mlp.c_proj, lambda y: F.relu(y).square()),
                             norm)], "pre")


class Chat(nn.Module):
    def __init__(self, kv_heads, cap):
        super().__init__()
        self.cap = cap
        self.transformer = module(wte=nn.Embedding(VOCABULARY, D),
                                  h=nn.ModuleList([Block(kv_heads) for _ in range(LAYERS)]))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        t = self.transformer
        return logits_of(inputs, lambda x: self.cap * torch.tanh(self.lm_head(x) / self.cap),
                         Stack(lambda prefix, tokens: norm("embed_norm", record("embed", t.wte(tokens))), list(t.h), norm))


def chat(name, title, source, kv_heads, cap):
    found = {"transformer.wte.weight": "embed.weight", "lm_head.weight": "lm_head.weight"}
    for layer in range(LAYERS):
        theirs, ours = f"transformer.h.{layer}.", f"layers.{layer}."
        for letter in "qk":
            found[f"{theirs}attn.c_{letter}.weight"] = f"{ours}self_attn.{letter}_proj.weight, halves swapped"
        found[theirs + "attn.c_v.weight"] = ours + "self_attn.v_proj.weight"
        found[theirs + "attn.c_proj.weight"] = ours + "self_attn.o_proj.weight"
        found[theirs + "mlp.c_fc.weight"] = ours + "up_proj.weight"
        found[theirs + "mlp.c_proj.weight"] = ours + "down_proj.weight"
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "num_key_value_heads": kv_heads,
            "dim_feedforward": 4 * D, "norm_first": True, "norm": "rmsnorm", "norm_gain": False, "layer_norm_eps": EPS,
            "final_norm": True, "embedding_norm": True, "activation": "relu2", "bias": False, "vocab_size": VOCABULARY,
            "positional_encoding": "rope", "qk_norm": True, "lm_head": True, "logit_soft_cap": cap}
    nowhere = "nothing of it is in the tensors"
    assumes = {"norm_first": said(True, nowhere), "norm": said("rmsnorm", nowhere), "norm_gain": said(False, nowhere),
               "final_norm": said(True, nowhere), "embedding_norm": said(True, nowhere),
               "layer_norm_eps": said(EPS, nowhere), "activation": said("relu2", nowhere), "qk_norm": said(True, nowhere),
               "positional_encoding": said("rope", nowhere), "rope_theta": said(10000.0, nowhere),
               "logit_soft_cap": said(cap, nowhere)}
    return Case(name, title, source, Chat(kv_heads, cap), some_inputs(name, VOCABULARY), ours, found, asks=heads(HEADS),
                assumes=assumes, needs=["RoPE turns the other way: the rows of the second half of each head of q and k "
                                        "come first"])


def cases():
    return [chat("nanochat", "nanochat's GPT", {"repository": "karpathy/nanochat", "paper": "Karpathy 2025"}, 1, 15.0),
            chat("modded-nanogpt", "modded-nanoGPT's GPT of late 2024",
                 {"repository": "KellerJordan/modded-nanogpt", "paper": "Jordan et al. 2024"}, 2, 30.0)]
