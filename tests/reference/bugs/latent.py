"""Latent attention under the names of DeepSeek's own code: queries, and keys and values, are made from narrow rows."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import NormByRoot, turned_neighbours, triangle

WIDTH, HEADS, LAYERS = 16, 2, 2
PLAIN, TURNED, VALUES, OF_QUERY, OF_KEYS = 6, 4, 5, 12, 10  # columns of a head, and of the narrow rows


class Attention(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.wq_a, self.q_norm, self.wq_b = nn.Linear(WIDTH, OF_QUERY, bias=False), NormByRoot(OF_QUERY), nn.Linear(OF_QUERY, HEADS * (PLAIN + TURNED), bias=False)
        self.wkv_a, self.kv_norm = nn.Linear(WIDTH, OF_KEYS + TURNED, bias=False), NormByRoot(OF_KEYS)
        self.wkv_b, self.wo = nn.Linear(OF_KEYS, HEADS * (PLAIN + VALUES), bias=False), nn.Linear(HEADS * VALUES, WIDTH, bias=False)
        self.how = how

    def forward(self, x):
        batch, length, _ = x.shape
        q = self.wq_b(self.q_norm(self.wq_a(x))).view(batch, length, HEADS, -1).transpose(1, 2)
        row, shared = self.wkv_a(x).split((OF_KEYS, TURNED), -1)
        own, v = self.wkv_b(self.kv_norm(row)).view(batch, length, HEADS, -1).transpose(1, 2).split((PLAIN, VALUES), -1)
        q = torch.cat((q[..., :PLAIN], turned_neighbours(q[..., PLAIN:])), -1)
        shared = shared[:, None] if "shared-key-not-rotated" in self.how else turned_neighbours(shared[:, None])
        k = torch.cat((own, shared.expand(-1, HEADS, -1, -1)), -1)
        scores = q @ k.transpose(-1, -2) / (PLAIN if "scale-without-shared-columns" in self.how else PLAIN + TURNED) ** 0.5
        pattern = scores.masked_fill(triangle(length, self.how) == 0, float("-inf")).softmax(-1)
        return self.wo((pattern @ v).transpose(1, 2).reshape(batch, length, -1))


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.attn_norm, self.ffn_norm, self.attn = NormByRoot(WIDTH), NormByRoot(WIDTH), Attention(how)
        self.w1, self.w2, self.w3 = nn.Linear(WIDTH, 24, bias=False), nn.Linear(24, WIDTH, bias=False), nn.Linear(WIDTH, 24, bias=False)

    def forward(self, x):
        x = x + self.attn(self.attn_norm(x))
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Latent(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.embed, self.layers = nn.Embedding(11, WIDTH), nn.ModuleList(Block(how) for _ in range(LAYERS))
        self.norm, self.head = NormByRoot(WIDTH), nn.Linear(WIDTH, 11, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
