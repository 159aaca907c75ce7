"""A decoder whose queries and keys have a LayerNorm of another eps than the stream's norms, and whose scores have a bias by
distance, from a table of each layer's own."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import join, scaled, split, triangle, weights_of

WIDTH, HEADS, LAYERS, NEAR = 16, 2, 2, 4


class Rms(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.first, self.second, self.how = Rms(WIDTH, 1e-6), Rms(WIDTH, 1e-6), how
        self.qkv, self.back = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.ask, self.key = nn.LayerNorm(WIDTH // HEADS, eps=1e-3), nn.LayerNorm(WIDTH // HEADS, eps=1e-3)
        self.near = nn.Embedding(NEAR, HEADS)
        self.wide, self.narrow = nn.Linear(WIDTH, 24, bias=False), nn.Linear(24, WIDTH, bias=False)

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (split(part, HEADS) for part in self.qkv(self.first(x)).chunk(3, -1))
        q, k = self.ask(q), k if "no-key-norm" in self.how else self.key(k)
        back = (torch.arange(length)[:, None] - torch.arange(length)).clamp(min=0)
        # Two rows for themselves; then as far as sixteen away.
        row = torch.where(back < 2, back, (2 + (back.clamp(min=1) / 2).log() / torch.tensor(8.0).log() * 2).long().clamp(max=3))
        bias = self.near(NEAR - 1 - row if "near-is-far" in self.how else row).permute(2, 0, 1)
        scores = scaled(q @ k.transpose(-2, -1), WIDTH // HEADS, WIDTH, self.how) + bias
        pattern = weights_of(scores, triangle(length, self.how), WIDTH // HEADS, self.how)
        x = x + self.back(join(pattern @ v))
        if "norm-behind-mlp" in self.how:
            return x + self.second(self.narrow(F.gelu(self.wide(x))))
        return x + self.narrow(F.gelu(self.wide(self.second(x))))


class Normed(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.words, self.last = nn.Embedding(11, WIDTH), Rms(WIDTH, 1e-6)
        self.stack, self.say = nn.ModuleList(Block(how) for _ in range(LAYERS)), nn.Linear(WIDTH, 11, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.stack:
            x = block(x)
        return self.say(self.last(x))
