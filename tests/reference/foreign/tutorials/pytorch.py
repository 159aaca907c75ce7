"""PyTorch's own: the Seq2SeqTransformer tutorial, and the language-model example in its two versions.

The blocks keep the names of torch.nn.Transformer and are compared with it before anything is written.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from parts import Stack, attend, causal, logits_of, mlp, module, record, sinusoidal, split, sums
from tutorials.common import Table, both, heads, said

SOURCE, TARGET, D, HEADS, LAYERS, FF, LONGEST = 19, 23, 12, 3, 2, 16, 18


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj_weight, self.in_proj_bias = nn.Parameter(torch.empty(3 * D, D)), nn.Parameter(torch.zeros(3 * D))
        self.out_proj = nn.Linear(D, D)

    def forward(self, at, x, source, keep):
        (wq, wk, wv), (bq, bk, bv) = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        q, k, v = F.linear(x, wq, bq), F.linear(source, wk, bk), F.linear(source, wv, bv)
        return record(f"{at}_out", self.out_proj(attend(at, split(q, HEADS), split(k, HEADS), split(v, HEADS), keep)))


class Block(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.crossed = crossed
        self.self_attn = Attention()
        if crossed:
            self.multihead_attn = Attention()
        self.linear1, self.linear2 = nn.Linear(D, FF), nn.Linear(FF, D)
        for n in range(2 + crossed):
            setattr(self, f"norm{n + 1}", nn.LayerNorm(D))

    def forward(self, at, x, keep, memory, memory_keep):
        steps = [("resid_mid", lambda h: self.self_attn(f"{at}.attn", h, h, keep))]
        if self.crossed:
            steps.append(("resid_mid_cross", lambda h: self.multihead_attn(f"{at}.cross_attn", h, memory, memory_keep)))
        steps.append(("resid_post", lambda h: mlp(at, h, self.linear1, self.linear2, F.relu)))
        return sums(at, x, [(*step, normed(getattr(self, f"norm{n}"))) for n, step in enumerate(steps, start=1)],
                    "post")


def blocks(crossed):
    return nn.ModuleList([Block(crossed) for _ in range(LAYERS)])


def block_map(found, theirs, ours, crossed):
    for name, our in (("self_attn", "self_attn"), ("multihead_attn", "cross_attn"))[:1 + crossed]:
        for ending in ("weight", "bias"):
            found[f"{theirs}{name}.in_proj_{ending}"] = f"{ours}{our}.{{q,k,v}}_proj.{ending}"
        both(found, f"{theirs}{name}.out_proj", f"{ours}{our}.o_proj")
    both(found, theirs + "linear1", ours + "up_proj")
    both(found, theirs + "linear2", ours + "down_proj")
    for n in range(1, 3 + crossed):
        both(found, f"{theirs}norm{n}", f"{ours}norm{n}")


def config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "activation": "relu", "vocab_size": TARGET, "positional_encoding": "learned", "max_positions": LONGEST,
            "scale_embedding": True, "lm_head": True, **more}


def assumed():
    return {"norm_first": said(False, "torch.nn's default; the tensors are the same under Pre-Norm"),
            "activation": said("relu", "torch.nn's default; it isn't in the tensors"),
            "scale_embedding": said(True, "it isn't in the tensors")}


def code():
    return sinusoidal(LONGEST, D)[:, None]  # [pos, 1, d_model]


# --- the Seq2SeqTransformer tutorial ----------------------------------------------------------------------------------


class Seq2Seq(nn.Module):
    """`whole`: one torch.nn.Transformer, as today; before, an encoder and a decoder without final norms."""

    def __init__(self, whole):
        super().__init__()
        self.whole = whole
        norms = [{"norm": nn.LayerNorm(D)} if whole else {} for _ in range(2)]
        encoder, decoder = module(layers=blocks(False), **norms[0]), module(layers=blocks(True), **norms[1])
        if whole:
            self.transformer = module(encoder=encoder, decoder=decoder)
        else:
            self.transformer_encoder, self.transformer_decoder = encoder, decoder
        self.generator = nn.Linear(D, TARGET)
        self.src_tok_emb = module(embedding=nn.Embedding(SOURCE, D))
        self.tgt_tok_emb = module(embedding=nn.Embedding(TARGET, D))
        self.positional_encoding = Table("pos_embedding", code())

    def sides(self):
        if self.whole:
            return self.transformer.encoder, self.transformer.decoder
        return self.transformer_encoder, self.transformer_decoder

    def stack(self, side, table):
        def embed(prefix, tokens):
            x = record(prefix + "embed", table(tokens) * math.sqrt(D))
            return x + record(prefix + "pos_embed", self.positional_encoding.pos_embedding[:tokens.size(1), 0])

        return Stack(embed, list(side.layers), normed(side.norm) if self.whole else None)

    def forward(self, inputs):
        encoder, decoder = self.sides()
        return logits_of(inputs, self.generator, self.stack(decoder, self.tgt_tok_emb.embedding),
                         self.stack(encoder, self.src_tok_emb.embedding))

    def by_torch(self, inputs):
        """The logits, by torch.nn.Transformer with these weights."""
        theirs = nn.Transformer(D, HEADS, LAYERS, LAYERS, FF, batch_first=True).eval()
        if not self.whole:
            theirs.encoder.norm = theirs.decoder.norm = None
        encoder, decoder = self.sides()
        theirs.encoder.load_state_dict(encoder.state_dict())
        theirs.decoder.load_state_dict(decoder.state_dict())
        embedded = [table.embedding(tokens) * math.sqrt(D) + self.positional_encoding.pos_embedding[:tokens.size(1), 0]
                    for table, tokens in ((self.src_tok_emb, inputs["encoder_tokens"]),
                                          (self.tgt_tok_emb, inputs["tokens"]))]
        padding = inputs["encoder_attention_mask"] == 0
        out = theirs(*embedded, tgt_mask=~causal(embedded[1].size(1)), src_key_padding_mask=padding,
                     tgt_key_padding_mask=inputs["attention_mask"] == 0, memory_key_padding_mask=padding)
        return self.generator(out)


def seq2seq(name, title, whole):
    found = {"src_tok_emb.embedding.weight": "encoder.embed.weight", "tgt_tok_emb.embedding.weight": "embed.weight",
             "positional_encoding.pos_embedding": ["pos_embed.weight", "encoder.pos_embed.weight"]}
    both(found, "generator", "lm_head")
    for side, start in (("encoder", "encoder."), ("decoder", "")):
        theirs = f"transformer.{side}." if whole else f"transformer_{side}."
        for layer in range(LAYERS):
            block_map(found, f"{theirs}layers.{layer}.", f"{start}layers.{layer}.", side == "decoder")
        if whole:
            both(found, theirs + "norm", start + "norm")
    ours = config(cross_attention=True, encoder_layers=LAYERS, encoder_vocab_size=SOURCE, final_norm=whole)
    return Case(name, title, {"repository": "pytorch/tutorials", "paper": "arXiv:1706.03762"}, Seq2Seq(whole),
                some_inputs(name, TARGET, 6, (SOURCE, 5)), ours, found, asks=heads(HEADS), assumes=assumed())


# --- the language-model example ---------------------------------------------------------------------------------------


class LanguageModel(nn.Module):
    """Encoder layers under a causal mask; `embedding` and `stack` are what the modules are called."""

    def __init__(self, embedding, stack, final):
        super().__init__()
        self.named = embedding, stack
        self.pos_encoder = Table("pe", code())
        setattr(self, stack, module(layers=blocks(False), **({"norm": nn.LayerNorm(D)} if final else {})))
        setattr(self, embedding, nn.Embedding(TARGET, D))
        self.decoder = nn.Linear(D, TARGET)

    def embed(self, prefix, tokens):
        x = record("embed", getattr(self, self.named[0])(tokens) * math.sqrt(D))
        return x + record("pos_embed", self.pos_encoder.pe[:tokens.size(1), 0])

    def forward(self, inputs):
        stack = getattr(self, self.named[1])
        final = normed(stack.norm) if hasattr(stack, "norm") else None
        return logits_of(inputs, self.decoder, Stack(self.embed, list(stack.layers), final))

    def by_torch(self, inputs):
        stack = getattr(self, self.named[1])
        layer = nn.TransformerEncoderLayer(D, HEADS, FF, batch_first=True)
        theirs = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(D) if hasattr(stack, "norm") else None).eval()
        theirs.load_state_dict(stack.state_dict())
        return self.decoder(theirs(self.embed(None, inputs["tokens"]), mask=~causal(inputs["tokens"].size(1))))


def language_model(name, title, embedding, stack, final):
    found = {f"{embedding}.weight": "embed.weight", "pos_encoder.pe": "pos_embed.weight"}
    for layer in range(LAYERS):
        block_map(found, f"{stack}.layers.{layer}.", f"layers.{layer}.", False)
    if final:
        both(found, f"{stack}.norm", "norm")
    both(found, "decoder", "lm_head")
    assumes = {**assumed(), "causal": said(True,
                                           "encoder layers see everything unless a mask is given, and here one is")}
    return Case(name, title, {"repository": "pytorch/examples", "paper": "arXiv:1706.03762"},
                LanguageModel(embedding, stack, final), some_inputs(name, TARGET, padding=False),
                config(final_norm=final), found,
                asks=heads(HEADS), assumes=assumes)


def cases():
    made = [seq2seq("seq2seq-tutorial", "PyTorch's translation tutorial, Seq2SeqTransformer", True),
            seq2seq("seq2seq-tutorial-2021",
                    "The same in its first version: an encoder and a decoder without final norms", False),
            language_model("language-model", "PyTorch's current word language model", "input_emb", "encoder", True),
            language_model("language-model-2019",
                           "PyTorch's word language model of 2019: encoder.weight is the embedding",
                           "encoder", "transformer_encoder", False)]
    for case in made:
        with torch.no_grad():
            theirs = case.module.by_torch(case.inputs)
        assert torch.allclose(case.trace()["logits"], theirs, atol=1e-5), case.name
    return made
