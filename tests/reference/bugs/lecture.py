"""A decoder as a well-known lecture writes it: each head a module of its own, a ModuleList of heads."""
import torch
from torch import nn

from parts import relu, scaled, triangle, weights_of


class Head(nn.Module):
    def __init__(self, width, size, how):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(width, size, bias=False) for _ in range(3))
        self.how = how

    def forward(self, x):
        k, q = self.key(x), self.query(x)
        scores = scaled(q @ k.transpose(-2, -1), k.size(2), x.size(2), self.how)
        return weights_of(scores, triangle(x.size(1), self.how), k.size(2), self.how) @ self.value(x)


class Heads(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        self.heads = nn.ModuleList([Head(width, width // heads, how) for _ in range(heads)])
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], -1))


class FeedForward(nn.Module):
    def __init__(self, width, how):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU() if "gelu-exact" in how else nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return self.net(x)


class Block(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        self.sa, self.ffwd = Heads(width, heads, how), FeedForward(width, how)
        self.ln1, self.ln2, self.how = nn.LayerNorm(width), nn.LayerNorm(width), how

    def forward(self, x):
        attended = self.sa(self.ln1(x))
        x = attended if "no-residual-attention" in self.how else x + attended
        return x + self.ffwd(self.ln2(x))


class Lecture(nn.Module):
    def __init__(self, how=(), width=8, heads=2, layers=2, vocabulary=11, positions=9):
        super().__init__()
        self.token_embedding_table, self.position_embedding_table = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*[Block(width, heads, how) for _ in range(layers)])
        self.ln_f, self.lm_head, self.how = nn.LayerNorm(width), nn.Linear(width, vocabulary), how

    def forward(self, idx):
        x = self.token_embedding_table(idx) + self.position_embedding_table(torch.arange(idx.size(1)))
        x = self.blocks(x)
        return self.lm_head(x if "no-final-norm" in self.how else self.ln_f(x))
