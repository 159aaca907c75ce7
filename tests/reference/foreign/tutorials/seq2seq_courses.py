"""Post-Norm encoder-decoders of courses and videos: bentrevett/pytorch-seq2seq, d2l.ai, and Aladdin Persson's."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from parts import Stack, attend, logits_of, mlp, module, record, sinusoidal, split, sums
from tutorials.common import both, heads, project, said

SOURCE, TARGET, D, HEADS, LAYERS, FF, LONGEST = 19, 23, 12, 3, 2, 16, 18


def config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "activation": "relu", "cross_attention": True, "encoder_layers": LAYERS, "vocab_size": TARGET,
            "encoder_vocab_size": SOURCE, "lm_head": True, **more}


def assumed(mask_value, **more):
    return {"norm_first": said(False, "the tensors are the same under Pre-Norm; no final norm speaks for Post-Norm"),
            "activation": said("relu", "it isn't in the tensors"),
            "mask_value": said(mask_value, "it isn't in the tensors, and matters only where no key is left"), **more}


def linears(*names, bias=True):
    return module(**{name: nn.Linear(D, D, bias=bias) for name in names})


def steps(at, own, cross, feed_forward, norms):
    """The sublayers of a block; `cross` is None in an encoder."""
    functions = [("resid_mid", own)] + ([("resid_mid_cross", cross)] if cross else []) + [("resid_post", feed_forward)]
    return [(*step, normed(norm)) for step, norm in zip(functions, norms)]


# --- bentrevett/pytorch-seq2seq ---------------------------------------------------------------------------------------


class BentrevettBlock(nn.Module):
    """Its norms are named after what stands before them."""

    def __init__(self, crossed):
        super().__init__()
        self.crossed = crossed
        self.self_attn_layer_norm = nn.LayerNorm(D)
        if crossed:
            self.enc_attn_layer_norm = nn.LayerNorm(D)
        self.ff_layer_norm = nn.LayerNorm(D)
        self.self_attention = linears("fc_q", "fc_k", "fc_v", "fc_o")
        if crossed:
            self.encoder_attention = linears("fc_q", "fc_k", "fc_v", "fc_o")
        self.positionwise_feedforward = module(fc_1=nn.Linear(D, FF), fc_2=nn.Linear(FF, D))

    def forward(self, at, x, keep, memory, memory_keep):
        def attention(a, name, source, mask):
            return lambda h: project(f"{at}.{name}", h, h if source is None else source, mask, HEADS, a.fc_q, a.fc_k,
                                     a.fc_v,
                                     a.fc_o, fill=-1e10)

        f = self.positionwise_feedforward
        crossing = [self.enc_attn_layer_norm] if self.crossed else []
        norms = [self.self_attn_layer_norm, *crossing, self.ff_layer_norm]
        cross = attention(self.encoder_attention, "cross_attn", memory, memory_keep) if self.crossed else None
        return sums(at, x, steps(at, attention(self.self_attention, "attn", None, keep), cross,
                                 lambda h: mlp(at, h, f.fc_1, f.fc_2, F.relu), norms), "post")


class Bentrevett(nn.Module):
    def __init__(self):
        super().__init__()
        for side, crossed, vocabulary in (("encoder", False, SOURCE), ("decoder", True, TARGET)):
            blocks = nn.ModuleList([BentrevettBlock(crossed) for _ in range(LAYERS)])
            setattr(self, side, module(tok_embedding=nn.Embedding(vocabulary, D),
                                       pos_embedding=nn.Embedding(LONGEST, D),
                                       layers=blocks))
        self.decoder.fc_out = nn.Linear(D, TARGET)

    def stack(self, side):
        def embed(prefix, tokens):
            x = record(prefix + "embed", side.tok_embedding(tokens) * math.sqrt(D))
            return x + record(prefix + "pos_embed", side.pos_embedding.weight[:tokens.size(1)])

        return Stack(embed, list(side.layers))

    def forward(self, inputs):
        return logits_of(inputs, self.decoder.fc_out, self.stack(self.decoder), self.stack(self.encoder))


def bentrevett():
    found = {}
    for side, crossed in (("encoder", False), ("decoder", True)):
        start = "" if crossed else "encoder."
        found[f"{side}.tok_embedding.weight"] = start + "embed.weight"
        found[f"{side}.pos_embedding.weight"] = start + "pos_embed.weight"
        for layer in range(LAYERS):
            theirs, ours = f"{side}.layers.{layer}.", f"{start}layers.{layer}."
            for name, our in (("self_attention", "self_attn"), ("encoder_attention", "cross_attn"))[:1 + crossed]:
                for letter in "qkvo":
                    both(found, f"{theirs}{name}.fc_{letter}", f"{ours}{our}.{letter}_proj")
            both(found, theirs + "positionwise_feedforward.fc_1", ours + "up_proj")
            both(found, theirs + "positionwise_feedforward.fc_2", ours + "down_proj")
            names = ("self_attn", "enc_attn", "ff") if crossed else ("self_attn", "ff")
            for n, name in enumerate(names, start=1):
                both(found, f"{theirs}{name}_layer_norm", f"{ours}norm{n}")
    both(found, "decoder.fc_out", "lm_head")
    return Case("bentrevett", "bentrevett's pytorch-seq2seq, Attention is All You Need",
                {"repository": "bentrevett/pytorch-seq2seq", "paper": "arXiv:1706.03762"}, Bentrevett(),
                some_inputs("bentrevett", TARGET, 6, (SOURCE, 5)),
                config(positional_encoding="learned", max_positions=LONGEST, scale_embedding=True, mask_value="-1e10"),
                found,
                asks=heads(HEADS), assumes=assumed("-1e10", scale_embedding=said(True, "it isn't in the tensors")))


# --- d2l.ai -----------------------------------------------------------------------------------------------------------


def named_blocks(crossed):
    """A Sequential whose members are called block0, block1, …"""
    return module(**{f"block{n}": D2lBlock(crossed) for n in range(LAYERS)})


class D2lBlock(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.crossed = crossed
        self.attentions = ("attention1", "attention2") if crossed else ("attention",)
        for n, name in enumerate(self.attentions, start=1):
            setattr(self, name, linears("W_q", "W_k", "W_v", "W_o", bias=False))
            setattr(self, f"addnorm{n}", module(ln=nn.LayerNorm(D)))
        self.ffn = module(dense1=nn.Linear(D, FF), dense2=nn.Linear(FF, D))
        setattr(self, f"addnorm{2 + crossed}", module(ln=nn.LayerNorm(D)))

    def forward(self, at, x, keep, memory, memory_keep):
        def attention(a, name, source, mask):
            return lambda h: project(f"{at}.{name}", h, h if source is None else source, mask, HEADS, a.W_q, a.W_k,
                                     a.W_v, a.W_o,
                                     fill=-1e6)

        norms = [getattr(self, f"addnorm{n}").ln for n in range(1, 3 + self.crossed)]
        cross = attention(self.attention2, "cross_attn", memory, memory_keep) if self.crossed else None
        own = attention(getattr(self, self.attentions[0]), "attn", None, keep)
        return sums(at, x, steps(at, own, cross, lambda h: mlp(at, h, self.ffn.dense1, self.ffn.dense2, F.relu), norms),
                    "post")


class D2l(nn.Module):
    """Its positional code is a plain attribute, so the file has none."""

    def __init__(self):
        super().__init__()
        self.encoder = module(embedding=nn.Embedding(SOURCE, D), blks=named_blocks(False))
        self.decoder = module(embedding=nn.Embedding(TARGET, D), blks=named_blocks(True), dense=nn.Linear(D, TARGET))

    def stack(self, side):
        def embed(prefix, tokens):
            x = record(prefix + "embed", side.embedding(tokens) * math.sqrt(D))
            return x + record(prefix + "pos_embed", sinusoidal(tokens.size(1), D))

        return Stack(embed, [getattr(side.blks, f"block{n}") for n in range(LAYERS)])

    def forward(self, inputs):
        return logits_of(inputs, self.decoder.dense, self.stack(self.decoder), self.stack(self.encoder))


def d2l():
    found = {"encoder.embedding.weight": "encoder.embed.weight", "decoder.embedding.weight": "embed.weight"}
    for side, crossed in (("encoder", False), ("decoder", True)):
        for layer in range(LAYERS):
            theirs, ours = f"{side}.blks.block{layer}.", ("" if crossed else "encoder.") + f"layers.{layer}."
            names = (("attention1", "self_attn"), ("attention2",
                                                   "cross_attn")) if crossed else (("attention", "self_attn"),)
            for name, our in names:
                for letter in "qkvo":
                    found[f"{theirs}{name}.W_{letter}.weight"] = f"{ours}{our}.{letter}_proj.weight"
            both(found, theirs + "ffn.dense1", ours + "up_proj")
            both(found, theirs + "ffn.dense2", ours + "down_proj")
            for n in range(1, 3 + crossed):
                both(found, f"{theirs}addnorm{n}.ln", f"{ours}norm{n}")
    both(found, "decoder.dense", "lm_head")
    assumes = assumed("-1e6", scale_embedding=said(True, "it isn't in the tensors"),
                      positional_encoding=said("sinusoidal", "no table is stored"))
    return Case("d2l", "Dive into Deep Learning's Transformer",
                {"repository": "d2l-ai/d2l-en", "paper": "arXiv:1706.03762"}, D2l(),
                some_inputs("d2l", TARGET, 6, (SOURCE, 5)),
                config(positional_encoding="sinusoidal", scale_embedding=True, mask_value="-1e6"), found,
                asks=heads(HEADS),
                assumes=assumes)


# --- Aladdin Persson's video ------------------------------------------------------------------------------------------


def shared():
    """Each head's columns go through the same small matrices."""
    width = D // HEADS
    return module(**{name: nn.Linear(width, width, bias=False) for name in ("values", "keys", "queries")},
                  fc_out=nn.Linear(D, D))


class PerssonBlock(nn.Module):
    """Attention, norm, feed-forward, norm: an encoder's block, and the part of a decoder's behind self-attention."""

    def __init__(self):
        super().__init__()
        self.attention, self.norm1, self.norm2 = shared(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.feed_forward = nn.Sequential(nn.Linear(D, FF), nn.ReLU(), nn.Linear(FF, D))


def persson_attention(a, at, h, source, keep):
    q, k, v = a.queries(split(h, HEADS)), a.keys(split(source, HEADS)), a.values(split(source, HEADS))
    return record(f"{at}_out", a.fc_out(attend(at, q, k, v, keep, scale=D ** -0.5, fill=-1e20)))


class Persson(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = module(word_embedding=nn.Embedding(SOURCE, D), position_embedding=nn.Embedding(LONGEST, D),
                              layers=nn.ModuleList([PerssonBlock() for _ in range(LAYERS)]))
        crossed = [module(attention=shared(), norm=nn.LayerNorm(D),
                          transformer_block=PerssonBlock()) for _ in range(LAYERS)]
        self.decoder = module(word_embedding=nn.Embedding(TARGET, D), position_embedding=nn.Embedding(LONGEST, D),
                              layers=nn.ModuleList(crossed), fc_out=nn.Linear(D, TARGET))

    def step(self, block, crossed):
        def forward(at, x, keep, memory, memory_keep):
            inner = block.transformer_block if crossed else block
            f = inner.feed_forward

            def own(h):
                return persson_attention(block.attention, f"{at}.attn", h, h, keep)

            def cross(h):
                return persson_attention(inner.attention, f"{at}.cross_attn", h, memory, memory_keep)

            norms = [block.norm, inner.norm1, inner.norm2] if crossed else [inner.norm1, inner.norm2]
            return sums(at, x, steps(at, own, cross if crossed else None, lambda h: mlp(at, h, f[0], f[2], F.relu),
                                     norms), "post")

        return forward

    def stack(self, side, crossed):
        def embed(prefix, tokens):
            x = record(prefix + "embed", side.word_embedding(tokens))
            return x + record(prefix + "pos_embed", side.position_embedding.weight[:tokens.size(1)])

        return Stack(embed, [self.step(block, crossed) for block in side.layers])

    def forward(self, inputs):
        return logits_of(inputs, self.decoder.fc_out, self.stack(self.decoder, True), self.stack(self.encoder, False))


def persson():
    found = {}

    def attention_map(theirs, ours):
        for letter, name in zip("qkv", ("queries", "keys", "values")):
            found[f"{theirs}.{name}.weight"] = f"{ours}.{letter}_proj.weight, for every head"
        both(found, theirs + ".fc_out", ours + ".o_proj")

    for side, crossed in (("encoder", False), ("decoder", True)):
        start = "" if crossed else "encoder."
        found[f"{side}.word_embedding.weight"] = start + "embed.weight"
        found[f"{side}.position_embedding.weight"] = start + "pos_embed.weight"
        for layer in range(LAYERS):
            theirs, ours = f"{side}.layers.{layer}.", f"{start}layers.{layer}."
            inner = theirs + "transformer_block." * crossed
            attention_map(theirs + "attention", ours + "self_attn")
            if crossed:
                both(found, theirs + "norm", ours + "norm1")
                attention_map(inner + "attention", ours + "cross_attn")
            both(found, inner + "norm1", f"{ours}norm{1 + crossed}")
            both(found, inner + "norm2", f"{ours}norm{2 + crossed}")
            both(found, inner + "feed_forward.0", ours + "up_proj")
            both(found, inner + "feed_forward.2", ours + "down_proj")
    both(found, "decoder.fc_out", "lm_head")
    assumes = assumed("-1e20", attention_scale=said(D ** -0.5,
                                                    "this video divides by sqrt(d_model); the tensors don't say"))
    return Case("aladdinpersson", "Aladdin Persson's Transformer from scratch: one small matrix for all heads",
                {"repository": "aladdinpersson/Machine-Learning-Collection", "paper": "arXiv:1706.03762"}, Persson(),
                some_inputs("persson", TARGET, 6, (SOURCE, 5)),
                config(positional_encoding="learned", max_positions=LONGEST, attention_scale=D ** -0.5,
                       mask_value="-1e20"), found,
                assumes=assumes)


def cases():
    return [bentrevett(), d2l(), persson()]
