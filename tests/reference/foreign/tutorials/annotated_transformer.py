"""The Annotated Transformer and its like: Pre-Norm, by a norm that divides by the unbiased deviation plus eps."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from parts import Stack, logits_of, mlp, module, record, sinusoidal, std_norm, sums
from tutorials.common import Table, both, heads, project, said

SOURCE, TARGET, D, HEADS, LAYERS, FF, LONGEST = 19, 23, 12, 3, 2, 16, 18


class Norm(nn.Module):
    def __init__(self, gain, shift, width=D):
        super().__init__()
        self.names = gain, shift
        setattr(self, gain, nn.Parameter(torch.ones(width)))
        setattr(self, shift, nn.Parameter(torch.zeros(width)))

    def forward(self, at, x):
        return std_norm(at, x, *(getattr(self, name) for name in self.names), 1e-6)


def embed_with(table, code):
    """Rows times sqrt(d_model), plus the code [1, longest, d_model]."""

    def embed(prefix, tokens):
        x = record(prefix + "embed", table(tokens) * math.sqrt(D))
        return x + record(prefix + "pos_embed", code[0, :tokens.size(1)])

    return embed


# --- harvardnlp/annotated-transformer ---------------------------------------------------------------------------------


def attention():
    return module(linears=nn.ModuleList([nn.Linear(D, D) for _ in range(4)]))


class AnnotatedBlock(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.crossed = crossed
        self.self_attn = attention()
        if crossed:
            self.src_attn = attention()
        self.feed_forward = module(w_1=nn.Linear(D, FF), w_2=nn.Linear(FF, D))
        self.sublayer = nn.ModuleList([module(norm=Norm("a_2", "b_2")) for _ in range(2 + crossed)])

    def forward(self, at, x, keep, memory, memory_keep):
        steps = [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, *self.self_attn.linears, fill=-1e9))]
        if self.crossed:
            steps.append(("resid_mid_cross", lambda h: project(f"{at}.cross_attn", h, memory, memory_keep, HEADS,
                                                               *self.src_attn.linears, fill=-1e9)))
        steps.append(("resid_post", lambda h: mlp(at, h, self.feed_forward.w_1, self.feed_forward.w_2, F.relu)))
        return sums(at, x, [(*step, part.norm) for step, part in zip(steps, self.sublayer)], "pre")


class Annotated(nn.Module):
    def __init__(self):
        super().__init__()
        for name, crossed in (("encoder", False), ("decoder", True)):
            blocks = nn.ModuleList([AnnotatedBlock(crossed) for _ in range(LAYERS)])
            setattr(self, name, module(layers=blocks, norm=Norm("a_2", "b_2")))
        for name, vocabulary in (("src_embed", SOURCE), ("tgt_embed", TARGET)):
            rows = module(lut=nn.Embedding(vocabulary, D))
            setattr(self, name, nn.Sequential(rows, Table("pe", sinusoidal(LONGEST, D)[None])))
        self.generator = module(proj=nn.Linear(D, TARGET))

    def forward(self, inputs):
        return logits_of(inputs, self.generator.proj,
                         *(Stack(embed_with(side[0].lut, side[1].pe), list(stack.layers), stack.norm)
                           for side, stack in ((self.tgt_embed, self.decoder), (self.src_embed, self.encoder))))


def stacks_map(found, attention, self_attn, cross_attn, up, down, norm, norm_endings, layers="{side}.layers.{layer}."):
    """The blocks' names: `attention` gives the paths of q, k, v, o within one; `norm` the n-th norm's path."""
    for side, crossed in (("encoder", False), ("decoder", True)):
        for layer in range(LAYERS):
            theirs = layers.format(side=side, layer=layer)
            ours = ("" if crossed else "encoder.") + f"layers.{layer}."
            for name, our in ((self_attn, "self_attn"), (cross_attn, "cross_attn"))[:1 + crossed]:
                for letter, path in zip("qkvo", attention):
                    both(found, f"{theirs}{name}.{path}", f"{ours}{our}.{letter}_proj")
            both(found, theirs + up, ours + "up_proj")
            both(found, theirs + down, ours + "down_proj")
            for n in range(2 + crossed):
                both(found, theirs + norm.format(n), f"{ours}norm{n + 1}", endings=norm_endings)


def config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "norm_first": True, "norm": "layernorm_std", "layer_norm_eps": 1e-6, "final_norm": True,
            "activation": "relu",
            "cross_attention": True, "encoder_layers": LAYERS, "vocab_size": TARGET, "encoder_vocab_size": SOURCE,
            "positional_encoding": "learned", "max_positions": LONGEST, "scale_embedding": True, "lm_head": True,
            "mask_value": "-1e9", **more}


def assumed(norm):
    return {"norm": said("layernorm_std",
                         f"{norm} is usually the norm that divides by the unbiased deviation plus eps, but "
                         "the tensors are those of a layernorm"),
            "layer_norm_eps": said(1e-6, "it isn't in the tensors"),
            "norm_first": said(True, "the tensors are the same under Post-Norm; a final norm speaks for Pre-Norm"),
            "activation": said("relu", "it isn't in the tensors"),
            "scale_embedding": said(True, "it isn't in the tensors"),
            "mask_value": said("-1e9", "it isn't in the tensors, and matters only where no key is left")}


def annotated():
    found = {"src_embed.0.lut.weight": "encoder.embed.weight", "src_embed.1.pe": "encoder.pos_embed.weight",
             "tgt_embed.0.lut.weight": "embed.weight", "tgt_embed.1.pe": "pos_embed.weight"}
    stacks_map(found, [f"linears.{n}" for n in range(4)], "self_attn", "src_attn", "feed_forward.w_1",
               "feed_forward.w_2",
               "sublayer.{}.norm", ("a_2", "b_2"))
    both(found, "encoder.norm", "encoder.norm", endings=("a_2", "b_2"))
    both(found, "decoder.norm", "norm", endings=("a_2", "b_2"))
    both(found, "generator.proj", "lm_head")
    return Case("annotated-transformer", "The Annotated Transformer",
                {"repository": "harvardnlp/annotated-transformer", "paper": "arXiv:1706.03762"}, Annotated(),
                some_inputs("annotated", TARGET, 6, (SOURCE, 5)), config(), found, asks=heads(HEADS),
                assumes=assumed("a_2, b_2"))


# --- hkproj/pytorch-transformer ---------------------------------------------------------------------------------------


def four():
    return module(**{name: nn.Linear(D, D) for name in ("w_q", "w_k", "w_v", "w_o")})


class HkprojBlock(nn.Module):
    def __init__(self, crossed, width):
        super().__init__()
        self.crossed = crossed
        self.self_attention_block = four()
        if crossed:
            self.cross_attention_block = four()
        self.feed_forward_block = module(linear_1=nn.Linear(D, FF), linear_2=nn.Linear(FF, D))
        self.residual_connections = nn.ModuleList([module(norm=Norm("alpha", "bias",
                                                                    width)) for _ in range(2 + crossed)])

    def forward(self, at, x, keep, memory, memory_keep):
        a, f = self.self_attention_block, self.feed_forward_block
        steps = [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.w_q, a.w_k, a.w_v, a.w_o,
                                                 fill=-1e9))]
        if self.crossed:
            c = self.cross_attention_block
            steps.append(("resid_mid_cross", lambda h: project(f"{at}.cross_attn", h, memory, memory_keep, HEADS, c.w_q,
                                                               c.w_k,
                                                               c.w_v, c.w_o, fill=-1e9)))
        steps.append(("resid_post", lambda h: mlp(at, h, f.linear_1, f.linear_2, F.relu)))
        return sums(at, x, [(*step, part.norm) for step, part in zip(steps, self.residual_connections)], "pre")


class Hkproj(nn.Module):
    def __init__(self, width):
        super().__init__()
        for name, crossed in (("encoder", False), ("decoder", True)):
            blocks = nn.ModuleList([HkprojBlock(crossed, width) for _ in range(LAYERS)])
            setattr(self, name, module(layers=blocks, norm=Norm("alpha", "bias", width)))
        self.src_embed, self.tgt_embed = module(embedding=nn.Embedding(SOURCE,
                                                                       D)), module(embedding=nn.Embedding(TARGET, D))
        self.src_pos, self.tgt_pos = (Table("pe", sinusoidal(LONGEST, D)[None]) for _ in range(2))
        self.projection_layer = module(proj=nn.Linear(D, TARGET))

    def forward(self, inputs):
        return logits_of(inputs, self.projection_layer.proj,
                         Stack(embed_with(self.tgt_embed.embedding, self.tgt_pos.pe), list(self.decoder.layers),
                               self.decoder.norm),
                         Stack(embed_with(self.src_embed.embedding, self.src_pos.pe), list(self.encoder.layers),
                               self.encoder.norm))


def hkproj(name, title, width):
    found = {"src_embed.embedding.weight": "encoder.embed.weight", "src_pos.pe": "encoder.pos_embed.weight",
             "tgt_embed.embedding.weight": "embed.weight", "tgt_pos.pe": "pos_embed.weight"}
    stacks_map(found, ("w_q", "w_k", "w_v", "w_o"), "self_attention_block", "cross_attention_block",
               "feed_forward_block.linear_1", "feed_forward_block.linear_2", "residual_connections.{}.norm",
               ("alpha", "bias"))
    both(found, "encoder.norm", "encoder.norm", endings=("alpha", "bias"))
    both(found, "decoder.norm", "norm", endings=("alpha", "bias"))
    both(found, "projection_layer.proj", "lm_head")
    if width == 1:
        found = {theirs: ours + ", repeated" if ".norm." in theirs else ours for theirs, ours in found.items()}
    return Case(name, title, {"repository": "hkproj/pytorch-transformer", "paper": "arXiv:1706.03762"}, Hkproj(width),
                some_inputs(name, TARGET, 6, (SOURCE, 5)), config(), found, asks=heads(HEADS),
                assumes=assumed("alpha, bias"))


def cases():
    return [annotated(), hkproj("hkproj", "hkproj's Transformer from scratch", D),
            hkproj("hkproj-video", "hkproj's Transformer as in the video: norms with one gain and one bias", 1)]
