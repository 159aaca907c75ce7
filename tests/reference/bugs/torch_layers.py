"""Decoder layers made of torch.nn's own parts, Post-Norm, over a given memory, as in torch.nn.TransformerDecoder."""
import torch
from torch import nn

from parts import relu


class Layer(nn.Module):
    def __init__(self, width, heads, inner, how, seq_first):
        super().__init__()
        self.how = how
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=not seq_first)
        self.multihead_attn = nn.MultiheadAttention(width, heads, batch_first=not seq_first)
        self.linear1, self.linear2 = nn.Linear(width, inner), nn.Linear(inner, width)
        eps = 1e-1 if "eps-1e-1" in how else 1e-5
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width, eps=eps) for _ in range(3))

    def attend(self, x, mask):
        weights = "need-weights" in self.how
        return self.self_attn(x, x, x, attn_mask=mask, need_weights=weights)[0]

    def cross(self, x, memory, padding):
        padding = None if "source-padding-ignored" in self.how else padding
        return self.multihead_attn(x, memory, memory, key_padding_mask=padding, need_weights="need-weights" in self.how)[0]

    def feed(self, x):
        x = self.linear1(x)
        x = x if "no-activation" in self.how else nn.functional.gelu(x) if "gelu-exact" in self.how else relu(x)
        return self.linear2(x)

    def forward(self, x, memory, mask, padding):
        how = self.how
        if "norm-elsewhere" in how:
            x = x + self.attend(self.norm1(x), mask)
            x = x + self.cross(self.norm2(x), memory, padding)
            return x + self.feed(self.norm3(x))
        x = self.norm1(x + self.attend(x, mask))
        crossed = self.cross(x, memory, padding)
        x = self.norm2(crossed if "no-residual-cross-attention" in how else x + crossed)
        fed = self.feed(x)
        return self.norm1(x + fed) if "one-norm-for-both" in how else self.norm3(x + fed)


class TorchLayers(nn.Module):
    def __init__(self, how=(), width=8, heads=2, layers=2, inner=12):
        super().__init__()
        self.how, self.seq_first = how, "seq-first" in how
        self.layers = nn.ModuleList([Layer(width, heads, inner, how, self.seq_first) for _ in range(layers)])

    def forward(self, tgt, memory, memory_key_padding_mask):
        length = tgt.size(1)
        mask = torch.ones(length, length).triu(1).bool()
        if "mask-inverted" in self.how:
            mask = ~mask
        if "no-causal-mask" in self.how:
            mask = None
        elif "additive" in self.how:
            mask = torch.zeros(length, length).masked_fill(mask, float("-inf"))
        x = tgt
        if self.seq_first:
            x, memory = x.transpose(0, 1), memory.transpose(0, 1)
        for layer in self.layers:
            x = layer(x, memory, mask, memory_key_padding_mask)
        return x
