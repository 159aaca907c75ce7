"""Decoders with learned positions: Karpathy's lecture, minGPT of 2020 and the current one, nanoGPT, and Raschka's book."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from parts import Stack, attend, gelu_tanh, layer_norm, logits_of, mlp, module, record, split, sums
from tutorials.common import both, heads, project, said

VOCABULARY, D, HEADS, LAYERS, BLOCK = 29, 16, 2, 2, 12


def triangle(*axes):
    return torch.ones(BLOCK, BLOCK).tril().view(*axes, BLOCK, BLOCK)


def config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "norm_first": True,
            "final_norm": True, "vocab_size": VOCABULARY, "positional_encoding": "learned", "max_positions": BLOCK,
            "lm_head": True, **more}


def assumed(activation):
    return {"norm_first": said(True, "the tensors are the same under Post-Norm; a final norm speaks for Pre-Norm"),
            "activation": said(activation, "it isn't in the tensors")}


def case(name, title, repository, module_, ours, found, **more):
    return Case(name, title, {"repository": repository, "paper": "Radford et al. 2019"}, module_,
                some_inputs(name, VOCABULARY),
                ours, found, **more)


class Gpt(nn.Module):
    """What is alike: rows plus learned positions, blocks, norm, head."""

    def run(self, inputs, rows, positions, blocks, norm, head):
        def embed(prefix, tokens):
            return record("embed", rows(tokens)) + record("pos_embed", positions[:tokens.size(1)])

        return logits_of(inputs, head, Stack(embed, list(blocks), norm))


# --- karpathy/ng-video-lecture ----------------------------------------------------------------------------------------


class LectureBlock(nn.Module):
    """A head is three small matrices."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        one = [module(**{name: nn.Linear(D, D // HEADS,
                                         bias=False) for name in ("key", "query", "value")}) for _ in range(HEADS)]
        for head in one:
            head.register_buffer("tril", triangle())
        self.sa = module(heads=nn.ModuleList(one), proj=nn.Linear(D, D))
        self.ffwd = module(net=nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D), nn.Dropout(0.2)))
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def attention(self, at, h, keep):
        q, k, v = (torch.stack([getattr(head, name)(h) for head in self.sa.heads],
                               1) for name in ("query", "key", "value"))
        return record(f"{at}_out", self.sa.proj(attend(at, q, k, v, keep, scale=self.scale)))

    def forward(self, at, x, keep, memory, memory_keep):
        net = self.ffwd.net
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), normed(self.ln1)),
                            ("resid_post", lambda h: mlp(at, h, net[0], net[2], F.relu), normed(self.ln2))], "pre")


class Lecture(Gpt):
    def __init__(self, scale):
        super().__init__()
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(VOCABULARY, D), nn.Embedding(BLOCK, D)
        self.blocks = nn.Sequential(*[LectureBlock(scale) for _ in range(LAYERS)])
        self.ln_f, self.lm_head = nn.LayerNorm(D), nn.Linear(D, VOCABULARY)

    def forward(self, inputs):
        return self.run(inputs, self.token_embedding_table, self.position_embedding_table.weight, self.blocks,
                        normed(self.ln_f),
                        self.lm_head)


def lecture(name, title, scale, ours):
    found, skipped = {"token_embedding_table.weight": "embed.weight",
                      "position_embedding_table.weight": "pos_embed.weight"}, {}
    for layer in range(LAYERS):
        theirs, mine = f"blocks.{layer}.", f"layers.{layer}."
        for head in range(HEADS):
            for word in ("query", "key", "value"):
                found[f"{theirs}sa.heads.{head}.{word}.weight"] = f"{mine}self_attn.{word[0]}_proj.weight, head {head}"
            skipped[f"{theirs}sa.heads.{head}.tril"] = "the causal mask"
        both(found, theirs + "sa.proj", mine + "self_attn.o_proj")
        both(found, theirs + "ffwd.net.0", mine + "up_proj")
        both(found, theirs + "ffwd.net.2", mine + "down_proj")
        both(found, theirs + "ln1", mine + "norm1")
        both(found, theirs + "ln2", mine + "norm2")
    both(found, "ln_f", "norm")
    both(found, "lm_head", "lm_head")
    why = "the video divides by sqrt(d_model), its repository by sqrt(d_head); the tensors are the same"
    assumes = {"attention_scale": said(scale or (D // HEADS) ** -0.5, why), **assumed("relu")}
    return case(name, title, "karpathy/ng-video-lecture", Lecture(scale), config(activation="relu", **ours), found,
                assumes=assumes, skipped=skipped)


# --- karpathy/minGPT --------------------------------------------------------------------------------------------------


class Mingpt2020Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attn = module(**{name: nn.Linear(D, D) for name in ("key", "query", "value", "proj")})
        self.attn.register_buffer("mask", triangle(1, 1))
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D), nn.Dropout(0.1))

    def forward(self, at, x, keep, memory, memory_keep):
        a = self.attn
        return sums(at, x, [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.query, a.key, a.value,
                                                            a.proj),
                             normed(self.ln1)),
                            ("resid_post", lambda h: mlp(at, h, self.mlp[0], self.mlp[2], F.gelu), normed(self.ln2))],
                            "pre")


class Mingpt2020(Gpt):
    def __init__(self):
        super().__init__()
        self.tok_emb, self.pos_emb = nn.Embedding(VOCABULARY, D), nn.Parameter(torch.zeros(1, BLOCK, D))
        self.blocks = nn.Sequential(*[Mingpt2020Block() for _ in range(LAYERS)])
        self.ln_f, self.head = nn.LayerNorm(D), nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        return self.run(inputs, self.tok_emb, self.pos_emb[0], self.blocks, normed(self.ln_f), self.head)


def mingpt_2020():
    found, skipped = {"tok_emb.weight": "embed.weight", "pos_emb": "pos_embed.weight",
                      "head.weight": "lm_head.weight"}, {}
    for layer in range(LAYERS):
        theirs, ours = f"blocks.{layer}.", f"layers.{layer}."
        for letter, word in zip("qkvo", ("query", "key", "value", "proj")):
            both(found, f"{theirs}attn.{word}", f"{ours}self_attn.{letter}_proj")
        skipped[theirs + "attn.mask"] = "the causal mask"
        both(found, theirs + "mlp.0", ours + "up_proj")
        both(found, theirs + "mlp.2", ours + "down_proj")
        both(found, theirs + "ln1", ours + "norm1")
        both(found, theirs + "ln2", ours + "norm2")
    both(found, "ln_f", "norm")
    return case("mingpt-2020", "minGPT of 2020", "karpathy/minGPT", Mingpt2020(), config(activation="gelu"), found,
                asks=heads(HEADS), assumes=assumed("gelu"), skipped=skipped)


class WeightOnly(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.weight)


class Fused(nn.Module):
    """current minGPT and nanoGPT: GPT-2's names with weights [out, in]."""

    def __init__(self, bias, act, buffer):
        super().__init__()
        self.act, self.plain = act, bias
        norm = (lambda: nn.LayerNorm(D)) if bias else WeightOnly
        self.ln_1, self.ln_2 = norm(), norm()
        self.attn = module(c_attn=nn.Linear(D, 3 * D, bias=bias), c_proj=nn.Linear(D, D, bias=bias))
        if buffer:
            self.attn.register_buffer("bias", triangle(1, 1))
        self.mlp = module(c_fc=nn.Linear(D, 4 * D, bias=bias), c_proj=nn.Linear(4 * D, D, bias=bias))

    def norm(self, norm):
        return normed(norm) if self.plain else norm

    def attention(self, at, h, keep):
        q, k, v = (split(part, HEADS) for part in self.attn.c_attn(h).chunk(3, -1))
        return record(f"{at}_out", self.attn.c_proj(attend(at, q, k, v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), self.norm(self.ln_1)),
                            ("resid_post", lambda h: mlp(at, h, self.mlp.c_fc, self.mlp.c_proj, self.act),
                             self.norm(self.ln_2))],
                    "pre")


class FusedGpt(Gpt):
    def __init__(self, bias, act, buffer, tied):
        super().__init__()
        blocks = nn.ModuleList([Fused(bias, act, buffer) for _ in range(LAYERS)])
        self.transformer = module(wte=nn.Embedding(VOCABULARY, D), wpe=nn.Embedding(BLOCK, D), h=blocks,
                                  ln_f=nn.LayerNorm(D) if bias else WeightOnly())
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        if tied:
            self.transformer.wte.weight = self.lm_head.weight

    def forward(self, inputs):
        t = self.transformer
        return self.run(inputs, t.wte, t.wpe.weight, t.h, t.h[0].norm(t.ln_f), self.lm_head)


def fused(name, title, repository, module_, ours, activation, prefix, tied, buffer):
    endings = ("weight", "bias") if module_.transformer.h[0].plain else ("weight",)
    found, skipped = {"transformer.wte.weight": "embed.weight", "transformer.wpe.weight": "pos_embed.weight"}, {}
    for layer in range(LAYERS):
        theirs, mine = f"transformer.h.{layer}.", f"layers.{layer}."
        for part, our in (("ln_1", "norm1"), ("attn.c_attn", "self_attn.{q,k,v}_proj"),
                          ("attn.c_proj", "self_attn.o_proj"),
                          ("ln_2", "norm2"), ("mlp.c_fc", "up_proj"), ("mlp.c_proj", "down_proj")):
            both(found, theirs + part, mine + our, endings=endings)
        if buffer:
            skipped[theirs + "attn.bias"] = "the causal mask"
    both(found, "transformer.ln_f", "norm", endings=endings)
    if tied:
        skipped["lm_head.weight"] = "the same numbers as transformer.wte.weight: the head is tied"
    else:
        found["lm_head.weight"] = "lm_head.weight"
    return case(name, title, repository, module_, ours, {prefix + key: value for key, value in found.items()},
                asks=heads(HEADS),
                assumes=assumed(activation), skipped={prefix + key: value for key, value in skipped.items()},
                prefix=prefix)


# --- rasbt/LLMs-from-scratch ------------------------------------------------------------------------------------------


class ScaleShift(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.scale, self.shift, 1e-5)


class BookBlock(nn.Module):
    def __init__(self, qkv_bias):
        super().__init__()
        self.att = module(**{name: nn.Linear(D, D, bias=qkv_bias) for name in ("W_query", "W_key", "W_value")},
                          out_proj=nn.Linear(D, D))
        self.att.register_buffer("mask", torch.ones(BLOCK, BLOCK).triu(1))
        self.ff = module(layers=nn.Sequential(nn.Linear(D, 4 * D), nn.Identity(), nn.Linear(4 * D, D)))
        self.norm1, self.norm2 = ScaleShift(), ScaleShift()

    def forward(self, at, x, keep, memory, memory_keep):
        a, f = self.att, self.ff.layers
        return sums(at, x, [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.W_query, a.W_key,
                                                            a.W_value,
                                                            a.out_proj), self.norm1),
                            ("resid_post", lambda h: mlp(at, h, f[0], f[2], gelu_tanh), self.norm2)], "pre")


class Book(Gpt):
    def __init__(self, qkv_bias):
        super().__init__()
        self.tok_emb, self.pos_emb = nn.Embedding(VOCABULARY, D), nn.Embedding(BLOCK, D)
        self.trf_blocks = nn.Sequential(*[BookBlock(qkv_bias) for _ in range(LAYERS)])
        self.final_norm, self.out_head = ScaleShift(), nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        return self.run(inputs, self.tok_emb, self.pos_emb.weight, self.trf_blocks, self.final_norm, self.out_head)


def book(name, title, qkv_bias):
    found, skipped = {"tok_emb.weight": "embed.weight", "pos_emb.weight": "pos_embed.weight",
                      "out_head.weight": "lm_head.weight"}, {}
    for layer in range(LAYERS):
        theirs, ours = f"trf_blocks.{layer}.", f"layers.{layer}."
        for letter, word in zip("qkv", ("W_query", "W_key", "W_value")):
            both(found, f"{theirs}att.{word}", f"{ours}self_attn.{letter}_proj",
                 endings=("weight", "bias")[:1 + qkv_bias])
        both(found, theirs + "att.out_proj", ours + "self_attn.o_proj")
        skipped[theirs + "att.mask"] = "the causal mask, 1 = hidden"
        both(found, theirs + "ff.layers.0", ours + "up_proj")
        both(found, theirs + "ff.layers.2", ours + "down_proj")
        for n in (1, 2):
            both(found, f"{theirs}norm{n}", f"{ours}norm{n}", endings=("scale", "shift"))
    both(found, "final_norm", "norm", endings=("scale", "shift"))
    return case(name, title, "rasbt/LLMs-from-scratch", Book(qkv_bias), config(activation="gelu_tanh"), found,
                asks=heads(HEADS),
                assumes={**assumed("gelu_tanh"), "norm": said("layernorm", "scale and shift are a layernorm's"),
                         "layer_norm_eps": said(1e-5, "it isn't in the tensors")}, skipped=skipped)


def cases():
    return [lecture("ng-video-lecture", "Karpathy's lecture on GPT", None, {}),
            lecture("ng-video-lecture-scaled", "Karpathy's lecture as typed from the video: scores times C**-0.5",
                    D ** -0.5,
                    {"attention_scale": D ** -0.5}),
            mingpt_2020(),
            fused("mingpt", "Current minGPT", "karpathy/minGPT", FusedGpt(True, gelu_tanh, True, False),
                  config(activation="gelu_tanh"), "gelu_tanh", "", False, True),
            fused("nanogpt", "nanoGPT, compiled, without biases", "karpathy/nanoGPT",
                  FusedGpt(False, F.gelu, False, True),
                  config(activation="gelu", bias=False, tie_word_embeddings=True), "gelu", "_orig_mod.", True, False),
            book("llms-from-scratch", "Raschka's Build a Large Language Model (From Scratch)", False),
            book("llms-from-scratch-qkv-bias", "The same with GPT-2's weights: qkv_bias", True)]
