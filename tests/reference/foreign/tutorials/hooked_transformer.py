"""TransformerLens' HookedTransformer: a matrix per head, weights [in, out]."""

import torch
from torch import nn

from case import Case, some_inputs
from parts import Stack, attend, gelu_tanh, layer_norm, logits_of, mlp, module, record, sums
from tutorials.common import both, said

VOCABULARY, D, HEADS, D_HEAD, LAYERS, FF, LONGEST = 29, 16, 3, 6, 2, 24, 12


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.w, self.b, 1e-5)


def holding(**shapes):
    """A module with parameters of these shapes; biases begin with b."""
    holder = nn.Module()
    for name, shape in shapes.items():
        setattr(holder, name, nn.Parameter(torch.zeros(*shape)))
    return holder


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = Norm(), Norm()
        matrices = {f"W_{letter}": (HEADS, D, D_HEAD) for letter in "QKV"}
        biases = {f"b_{letter}": (HEADS, D_HEAD) for letter in "QKV"}
        self.attn = holding(**matrices, W_O=(HEADS, D_HEAD, D), **biases, b_O=(D,))
        self.attn.register_buffer("mask", torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril())
        self.attn.register_buffer("IGNORE", torch.tensor(float("-inf")))
        self.mlp = holding(W_in=(D, FF), b_in=(FF,), W_out=(FF, D), b_out=(D,))

    def attention(self, at, h, keep):
        a = self.attn
        q, k, v = (torch.einsum("bpd,hde->bhpe", h, getattr(a, f"W_{letter}")) + getattr(a, f"b_{letter}")[:, None]
                   for letter in "QKV")
        z = attend(at, q, k, v, keep).unflatten(-1, (HEADS, D_HEAD))
        return record(f"{at}_out", torch.einsum("bphe,hed->bpd", z, a.W_O) + a.b_O)

    def forward(self, at, x, keep, memory, memory_keep):
        m = self.mlp
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), self.ln1),
                            ("resid_post", lambda h: mlp(at, h, lambda y: y @ m.W_in + m.b_in,
                                                         lambda y: y @ m.W_out + m.b_out,
                                                         gelu_tanh), self.ln2)], "pre")


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.pos_embed = holding(W_E=(VOCABULARY, D)), holding(W_pos=(LONGEST, D))
        self.blocks, self.ln_final = nn.ModuleList([Block() for _ in range(LAYERS)]), Norm()
        self.unembed = holding(W_U=(D, VOCABULARY), b_U=(VOCABULARY,))

    def rows(self, prefix, tokens):
        return record("embed", self.embed.W_E[tokens]) + record("pos_embed", self.pos_embed.W_pos[:tokens.size(1)])

    def forward(self, inputs):
        u = self.unembed
        return logits_of(inputs, lambda x: x @ u.W_U + u.b_U, Stack(self.rows, list(self.blocks), self.ln_final))


def cases():
    found = {"embed.W_E": "embed.weight", "pos_embed.W_pos": "pos_embed.weight",
             "unembed.W_U": "lm_head.weight, transposed",
             "unembed.b_U": "lm_head.bias"}
    skipped = {}
    for layer in range(LAYERS):
        theirs, ours = f"blocks.{layer}.", f"layers.{layer}."
        for letter in "QKVO":
            found[f"{theirs}attn.W_{letter}"] = f"{ours}self_attn.{letter.lower()}_proj.weight, a matrix per head"
            how = "" if letter == "O" else ", a matrix per head"
            found[f"{theirs}attn.b_{letter}"] = f"{ours}self_attn.{letter.lower()}_proj.bias{how}"
        for part, our in (("in", "up_proj"), ("out", "down_proj")):
            found[f"{theirs}mlp.W_{part}"] = f"{ours}{our}.weight, transposed"
            found[f"{theirs}mlp.b_{part}"] = f"{ours}{our}.bias"
        for n in (1, 2):
            both(found, f"{theirs}ln{n}", f"{ours}norm{n}", endings=("w", "b"))
        skipped[theirs + "attn.mask"] = "the causal mask"
        skipped[theirs + "attn.IGNORE"] = "what masked scores are set to"
    both(found, "ln_final", "norm", endings=("w", "b"))
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "head_dim": D_HEAD, "norm_first": True, "final_norm": True, "activation": "gelu_tanh",
            "vocab_size": VOCABULARY,
            "positional_encoding": "learned", "max_positions": LONGEST, "lm_head": True}
    assumes = {"activation": said("gelu_tanh", "it isn't in the tensors"),
               "attention_scale": said(D_HEAD ** -0.5, "it isn't in the tensors"),
               "layer_norm_eps": said(1e-5, "it isn't in the tensors")}
    return [Case("hooked-transformer", "TransformerLens' HookedTransformer",
                 {"repository": "TransformerLensOrg/TransformerLens", "paper": "Elhage et al. 2021"}, Hooked(),
                 some_inputs("hooked", VOCABULARY), ours, found, assumes=assumes, skipped=skipped)]
