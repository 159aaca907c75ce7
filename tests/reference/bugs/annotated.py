"""An encoder-decoder in the Annotated Transformer's manner: a list of Linears, a norm by torch.std, Pre-Norm."""
import math

import torch
from torch import nn

from parts import Std, attend, join, relu, sinusoid, split, triangle


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, how):
        super().__init__()
        self.h, self.how = h, how
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])

    def forward(self, query, key, value, mask):
        by = (0, 0, 0) if "shared-qkv" in self.how else (0, 1, 2)
        q, k, v = (split(self.linears[i](x), self.h, self.how) for i, x in zip(by, (query, key, value)))
        return self.linears[3](join(attend(q, k, v, mask, query.size(2), self.how), self.how))


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w_2(relu(self.w_1(x)))


class SublayerConnection(nn.Module):
    def __init__(self, size, how, forgotten=False):
        super().__init__()
        self.norm, self.forgotten = Std(size, how), forgotten

    def forward(self, x, sublayer):
        return sublayer(self.norm(x)) if self.forgotten else x + sublayer(self.norm(x))


class EncoderLayer(nn.Module):
    def __init__(self, size, h, d_ff, how):
        super().__init__()
        self.self_attn, self.feed_forward = MultiHeadedAttention(h, size, how), PositionwiseFeedForward(size, d_ff)
        self.sublayer = nn.ModuleList([SublayerConnection(size, how), SublayerConnection(size, how, "no-residual-mlp" in how)])

    def forward(self, x, mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.sublayer[1](x, self.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, size, h, d_ff, how):
        super().__init__()
        self.self_attn, self.src_attn = MultiHeadedAttention(h, size, how), MultiHeadedAttention(h, size, how)
        self.feed_forward = PositionwiseFeedForward(size, d_ff)
        self.sublayer = nn.ModuleList([
            SublayerConnection(size, how), SublayerConnection(size, how, "no-residual-cross-attention" in how),
            SublayerConnection(size, how, "no-residual-mlp" in how)])

    def forward(self, x, memory, src_mask, tgt_mask):
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, tgt_mask))
        x = self.sublayer[1](x, lambda x: self.src_attn(x, memory, memory, src_mask))
        return self.sublayer[2](x, self.feed_forward)


class Stack(nn.Module):
    def __init__(self, layers, size, how):
        super().__init__()
        self.layers, self.norm = nn.ModuleList(layers), Std(size, how)


class Embeddings(nn.Module):
    def __init__(self, d_model, vocab, how):
        super().__init__()
        self.lut, self.how = nn.Embedding(vocab, d_model), how

    def forward(self, x):
        return self.lut(x) * (1.0 if "embedding-not-scaled" in self.how else math.sqrt(self.lut.embedding_dim))


class Generator(nn.Module):
    def __init__(self, d_model, vocab):
        super().__init__()
        self.proj = nn.Linear(d_model, vocab)

    def forward(self, x):
        return torch.log_softmax(self.proj(x), -1)


class EncoderDecoder(nn.Module):
    def __init__(self, how=(), width=8, heads=2, layers=1, source=9, target=11):
        super().__init__()
        self.how = how
        self.encoder = Stack([EncoderLayer(width, heads, 12, how) for _ in range(layers)], width, how)
        self.decoder = Stack([DecoderLayer(width, heads, 12, how) for _ in range(layers)], width, how)
        self.src_embed, self.tgt_embed = Embeddings(width, source, how), Embeddings(width, target, how)
        self.generator = Generator(width, target)

    def forward(self, src, tgt, src_pad_mask, tgt_pad_mask):
        how = self.how
        if "padding-inverted" in how:
            src_pad_mask, tgt_pad_mask = 1 - src_pad_mask, 1 - tgt_pad_mask
        if "target-padding-for-source" in how:
            crossing = tgt_pad_mask
        elif "source-padding-ignored" in how:
            crossing = src_pad_mask = torch.ones_like(src_pad_mask)
        else:
            crossing = src_pad_mask
        src_mask, crossing = src_pad_mask[:, None, None, :].float(), crossing[:, None, None, :].float()
        if "causal-cross-attention" in how:
            crossing = crossing * triangle(src.size(1), how)[: tgt.size(1)]
        tgt_mask = tgt_pad_mask[:, None, None, :].float() * triangle(tgt.size(1), how)
        if "padding-replaces-causal" in how:
            tgt_mask = tgt_pad_mask[:, None, None, :].float() * torch.ones(tgt.size(1), 1)
        x = self.src_embed(src) + sinusoid(src.size(1), 8, how)
        for layer in self.encoder.layers:
            x = layer(x, src_mask)
        memory = x if "encoder-not-normed" in how else self.encoder.norm(x)
        x = self.tgt_embed(tgt) + sinusoid(tgt.size(1), 8, how)
        for layer in self.decoder.layers:
            x = layer(x, memory, crossing, tgt_mask)
        return self.generator(self.decoder.norm(x))
