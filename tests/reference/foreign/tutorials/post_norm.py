"""Post-Norm encoder-decoders: hyunwoongko/transformer and jadore801120/attention-is-all-you-need-pytorch."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from parts import Stack, layer_norm, logits_of, mlp, module, record, sinusoidal, sums
from tutorials.common import Table, both, heads, project, said

SOURCE, TARGET, D, HEADS, LAYERS, FF, LONGEST = 19, 23, 12, 3, 2, 16, 18


def config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "activation": "relu", "cross_attention": True, "encoder_layers": LAYERS, "vocab_size": TARGET,
            "encoder_vocab_size": SOURCE, "lm_head": True, **more}


# --- hyunwoongko/transformer ------------------------------------------------------------------------------------------


class GammaBeta(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.gamma, self.beta, 1e-12)


def attention():
    return module(**{name: nn.Linear(D, D) for name in ("w_q", "w_k", "w_v", "w_concat")})


class HyunwoongkoBlock(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.crossed = crossed
        setattr(self, "self_attention" if crossed else "attention", attention())
        self.norm1 = GammaBeta()
        if crossed:
            self.enc_dec_attention, self.norm2 = attention(), GammaBeta()
        self.ffn = module(linear1=nn.Linear(D, FF), linear2=nn.Linear(FF, D))
        setattr(self, "norm3" if crossed else "norm2", GammaBeta())

    def forward(self, at, x, keep, memory, memory_keep):
        a = self.self_attention if self.crossed else self.attention
        steps = [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.w_q, a.w_k, a.w_v, a.w_concat,
                                                 fill=-1e4),
                  self.norm1)]
        if self.crossed:
            c = self.enc_dec_attention
            steps.append(("resid_mid_cross", lambda h: project(f"{at}.cross_attn", h, memory, memory_keep, HEADS, c.w_q,
                                                               c.w_k,
                                                               c.w_v, c.w_concat, fill=-1e4), self.norm2))
        steps.append(("resid_post", lambda h: mlp(at, h, self.ffn.linear1, self.ffn.linear2, F.relu),
                      self.norm3 if self.crossed else self.norm2))
        return sums(at, x, steps, "post")


class Hyunwoongko(nn.Module):
    """Its positional code is a plain attribute, so the file has none."""

    def __init__(self):
        super().__init__()
        for name, crossed, vocabulary in (("encoder", False, SOURCE), ("decoder", True, TARGET)):
            blocks = nn.ModuleList([HyunwoongkoBlock(crossed) for _ in range(LAYERS)])
            setattr(self, name, module(emb=module(tok_emb=nn.Embedding(vocabulary, D)), layers=blocks))
        self.decoder.linear = nn.Linear(D, TARGET)

    def stack(self, side):
        def embed(prefix, tokens):
            code = record(prefix + "pos_embed", sinusoidal(tokens.size(1), D))
            return record(prefix + "embed", side.emb.tok_emb(tokens)) + code

        return Stack(embed, list(side.layers))

    def forward(self, inputs):
        return logits_of(inputs, self.decoder.linear, self.stack(self.decoder), self.stack(self.encoder))


def hyunwoongko():
    found = {"encoder.emb.tok_emb.weight": "encoder.embed.weight", "decoder.emb.tok_emb.weight": "embed.weight"}
    both(found, "decoder.linear", "lm_head")
    for side, crossed in (("encoder", False), ("decoder", True)):
        for layer in range(LAYERS):
            theirs, ours = f"{side}.layers.{layer}.", ("" if crossed else "encoder.") + f"layers.{layer}."
            attentions = (("self_attention", "self_attn"), ("enc_dec_attention", "cross_attn")) if crossed else \
                (("attention", "self_attn"),)
            for name, our in attentions:
                for letter, part in zip("qkvo", ("w_q", "w_k", "w_v", "w_concat")):
                    both(found, f"{theirs}{name}.{part}", f"{ours}{our}.{letter}_proj")
            both(found, theirs + "ffn.linear1", ours + "up_proj")
            both(found, theirs + "ffn.linear2", ours + "down_proj")
            for n in range(1, 3 + crossed):
                both(found, f"{theirs}norm{n}", f"{ours}norm{n}", endings=("gamma", "beta"))
    assumes = {"layer_norm_eps": said(1e-12, "it isn't in the tensors"),
               "norm": said("layernorm", "gamma and beta are a layernorm's"),
               "norm_first": said(False, "the tensors are the same under Pre-Norm; no final norm speaks for Post-Norm"),
               "activation": said("relu", "it isn't in the tensors"),
               "positional_encoding": said("sinusoidal", "no table is stored"),
               "mask_value": said("-1e4", "it isn't in the tensors, and matters only where no key is left")}
    inputs = some_inputs("hyunwoongko", TARGET, 6, (SOURCE, 5))
    del inputs["attention_mask"]  # its padding masks queries, not keys, in the decoder
    return Case("hyunwoongko", "hyunwoongko's Transformer",
                {"repository": "hyunwoongko/transformer", "paper": "arXiv:1706.03762"}, Hyunwoongko(), inputs,
                config(layer_norm_eps=1e-12, positional_encoding="sinusoidal", mask_value="-1e4"), found,
                asks=heads(HEADS),
                assumes=assumes)


# --- jadore801120/attention-is-all-you-need-pytorch -------------------------------------------------------------------


def with_norm():
    linears = {name: nn.Linear(D, D, bias=False) for name in ("w_qs", "w_ks", "w_vs", "fc")}
    return module(**linears, layer_norm=nn.LayerNorm(D, eps=1e-6))


class JadoreBlock(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.slf_attn = with_norm()
        self.enc_attn = with_norm() if crossed else None
        self.pos_ffn = module(w_1=nn.Linear(D, FF), w_2=nn.Linear(FF, D), layer_norm=nn.LayerNorm(D, eps=1e-6))

    def forward(self, at, x, keep, memory, memory_keep):
        a, c, f = self.slf_attn, self.enc_attn, self.pos_ffn
        steps = [("resid_mid", lambda h: project(f"{at}.attn", h, h, keep, HEADS, a.w_qs, a.w_ks, a.w_vs, a.fc,
                                                 fill=-1e9),
                  normed(a.layer_norm))]
        if c is not None:
            steps.append(("resid_mid_cross", lambda h: project(f"{at}.cross_attn", h, memory, memory_keep, HEADS,
                                                               c.w_qs, c.w_ks,
                                                               c.w_vs, c.fc, fill=-1e9), normed(c.layer_norm)))
        steps.append(("resid_post", lambda h: mlp(at, h, f.w_1, f.w_2, F.relu), normed(f.layer_norm)))
        return sums(at, x, steps, "post")


class Jadore(nn.Module):
    """The norm at the top of a stack stands before its blocks. One embedding serves both sides and the head, and the
    logits are divided by sqrt(d_model)."""

    def __init__(self):
        super().__init__()
        for side, crossed, embedding in (("encoder", False, "src_word_emb"), ("decoder", True, "trg_word_emb")):
            parts = {embedding: nn.Embedding(TARGET, D), "position_enc": Table("pos_table",
                                                                               sinusoidal(LONGEST, D)[None])}
            blocks = nn.ModuleList([JadoreBlock(crossed) for _ in range(LAYERS)])
            setattr(self, side, module(**parts, layer_stack=blocks, layer_norm=nn.LayerNorm(D, eps=1e-6)))
        self.trg_word_prj = nn.Linear(D, TARGET, bias=False)
        self.trg_word_prj.weight = self.decoder.trg_word_emb.weight
        self.encoder.src_word_emb.weight = self.decoder.trg_word_emb.weight

    def stack(self, side, embedding):
        def embed(prefix, tokens):
            x = record(prefix + "embed", embedding(tokens))
            x = x + record(prefix + "pos_embed", side.position_enc.pos_table[0, :tokens.size(1)])
            return normed(side.layer_norm)(prefix + "embed_norm", x)

        return Stack(embed, list(side.layer_stack))

    def forward(self, inputs):
        return logits_of(inputs, lambda x: self.trg_word_prj(x) * D ** -0.5,
                         self.stack(self.decoder, self.decoder.trg_word_emb),
                         self.stack(self.encoder, self.encoder.src_word_emb))


def jadore():
    found = {"encoder.src_word_emb.weight": "encoder.embed.weight", "decoder.trg_word_emb.weight": "embed.weight"}
    for side, crossed in (("encoder", False), ("decoder", True)):
        start = "" if crossed else "encoder."
        found[f"{side}.position_enc.pos_table"] = start + "pos_embed.weight"
        both(found, f"{side}.layer_norm", start + "embed_norm")
        for layer in range(LAYERS):
            theirs, ours = f"{side}.layer_stack.{layer}.", f"{start}layers.{layer}."
            for n, (name, our) in enumerate((("slf_attn", "self_attn"), ("enc_attn", "cross_attn"))[:1 + crossed],
                                            start=1):
                for letter, part in zip("qkvo", ("w_qs", "w_ks", "w_vs", "fc")):
                    found[f"{theirs}{name}.{part}.weight"] = f"{ours}{our}.{letter}_proj.weight"
                both(found, f"{theirs}{name}.layer_norm", f"{ours}norm{n}")
            both(found, theirs + "pos_ffn.w_1", ours + "up_proj")
            both(found, theirs + "pos_ffn.w_2", ours + "down_proj")
            both(found, theirs + "pos_ffn.layer_norm", f"{ours}norm{2 + crossed}")
    assumes = {"embedding_norm": said(True, "a layer_norm beside the blocks may stand before or behind them"),
               "logit_scale": said(D ** -0.5, "it isn't in the tensors; scale_emb_or_prj='prj' is its default"),
               "layer_norm_eps": said(1e-6, "it isn't in the tensors"),
               "norm_first": said(False, "the tensors are the same under Pre-Norm"),
               "activation": said("relu", "it isn't in the tensors"),
               "mask_value": said("-1e9", "it isn't in the tensors, and matters only where no key is left")}
    ours = config(encoder_vocab_size=TARGET, layer_norm_eps=1e-6, positional_encoding="learned", max_positions=LONGEST,
                  embedding_norm=True, logit_scale=D ** -0.5, tie_word_embeddings=True, mask_value="-1e9")
    return Case("jadore801120", "jadore801120's Attention is all you need",
                {"repository": "jadore801120/attention-is-all-you-need-pytorch", "paper": "arXiv:1706.03762"}, Jadore(),
                some_inputs("jadore", TARGET, 6, (TARGET, 5)), ours, found, asks=heads(HEADS), assumes=assumes,
                skipped={"trg_word_prj.weight": "the same numbers as decoder.trg_word_emb.weight: the head is tied"})


def cases():
    return [hyunwoongko(), jadore()]
