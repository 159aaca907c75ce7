"""lucidrains/x-transformers: a TransformerWrapper around a Decoder. A block is two layers, a head is of any width."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from parts import Stack, layer_norm, logits_of, mlp, module, record, sums
from tutorials.common import both, heads, project, said

VOCABULARY, D, HEADS, D_HEAD, DEPTH, LONGEST = 29, 12, 2, 8, 2, 12


class Gamma(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.gamma)


def attention_layer():
    wide = {name: nn.Linear(D, HEADS * D_HEAD, bias=False) for name in ("to_q", "to_k", "to_v")}
    return nn.ModuleList([nn.ModuleList([Gamma()]), module(**wide, to_out=nn.Linear(HEADS * D_HEAD, D, bias=False))])


def feed_forward_layer():
    inner = nn.Sequential(nn.Sequential(nn.Linear(D, 4 * D), nn.GELU()), nn.Dropout(0.0), nn.Linear(4 * D, D))
    return nn.ModuleList([nn.ModuleList([Gamma()]), module(ff=inner)])


class XTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_emb, self.pos_emb = module(emb=nn.Embedding(VOCABULARY, D)), module(emb=nn.Embedding(LONGEST, D))
        layers = [make() for _ in range(DEPTH) for make in (attention_layer, feed_forward_layer)]
        self.attn_layers = module(layers=nn.ModuleList(layers), final_norm=Gamma())
        self.to_logits = nn.Linear(D, VOCABULARY, bias=False)

    def embed(self, prefix, tokens):
        code = self.pos_emb.emb.weight[:tokens.size(1)] * D ** -0.5
        return record("embed", self.token_emb.emb(tokens)) + record("pos_embed", code)

    def block(self, n):
        (before, a), (between, f) = self.attn_layers.layers[2 * n], self.attn_layers.layers[2 * n + 1]

        def forward(at, x, keep, memory, memory_keep):
            return sums(at, x, [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.to_q, a.to_k, a.to_v,
                                                                a.to_out),
                                 before[0]),
                                ("resid_post", lambda h: mlp(at, h, f.ff[0][0], f.ff[2], F.gelu), between[0])], "pre")

        return forward

    def forward(self, inputs):
        return logits_of(inputs, self.to_logits, Stack(self.embed, [self.block(n) for n in range(DEPTH)],
                                                       self.attn_layers.final_norm))


def cases():
    found = {"token_emb.emb.weight": "embed.weight", "pos_emb.emb.weight": "pos_embed.weight",
             "attn_layers.final_norm.gamma": "norm.weight", "to_logits.weight": "lm_head.weight"}
    for block in range(DEPTH):
        first, second, ours = (f"attn_layers.layers.{2 * block}.", f"attn_layers.layers.{2 * block + 1}.",
                               f"layers.{block}.")
        found[first + "0.0.gamma"] = ours + "norm1.weight"
        for letter, name in zip("qkvo", ("to_q", "to_k", "to_v", "to_out")):
            found[f"{first}1.{name}.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        found[second + "0.0.gamma"] = ours + "norm2.weight"
        both(found, second + "1.ff.0.0", ours + "up_proj")
        both(found, second + "1.ff.2", ours + "down_proj")
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": DEPTH, "head_dim": D_HEAD,
            "norm_first": True, "final_norm": True, "activation": "gelu", "vocab_size": VOCABULARY,
            "positional_encoding": "learned", "max_positions": LONGEST, "position_scale": D ** -0.5, "lm_head": True}
    assumes = {"norm": said("layernorm", "a gain without a bias is usually an RMSNorm's; this one is a layernorm's"),
               "position_scale": said(D ** -0.5, "it isn't in the tensors"),
               "activation": said("gelu", "it isn't in the tensors"),
               "norm_first": said(True, "the tensors are the same under Post-Norm; a final norm speaks for Pre-Norm")}
    return [Case("x-transformers", "x-transformers' TransformerWrapper with a Decoder",
                 {"repository": "lucidrains/x-transformers", "paper": "arXiv:1706.03762"}, XTransformer(),
                 some_inputs("x-transformers", VOCABULARY), ours, found, asks=heads(HEADS), assumes=assumes)]
