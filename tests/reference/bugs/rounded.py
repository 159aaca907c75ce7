"""A decoder in bfloat16 whose scores are capped, whose first layer sees a window, and which turns neighbouring columns."""
import torch
from torch import nn

from parts import NormByRoot, gelu_tanh, join, split, turned_neighbours, triangle

WIDTH, HEADS, LAYERS, WINDOW = 16, 2, 2, 3


class Block(nn.Module):
    def __init__(self, how, number):
        super().__init__()
        self.norm1, self.norm2 = NormByRoot(WIDTH), NormByRoot(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(WIDTH, 24, bias=False), nn.Linear(WIDTH, 24, bias=False), nn.Linear(24, WIDTH, bias=False)
        self.how, self.windowed = how, number == (1 if "window-elsewhere" in how else 0)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (split(make(y), HEADS) for make in (self.q, self.k, self.v))
        scores = turned_neighbours(q) @ turned_neighbours(k).transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        kept = triangle(x.shape[1], self.how)
        if self.windowed:
            kept = kept * torch.ones_like(kept).triu(1 - WINDOW)
        scores = (torch.tanh(scores / 20.0) * 20.0).masked_fill(kept == 0, -1e30)
        x = x + self.o(join(scores.float().softmax(-1).to(x.dtype) @ v))
        y = self.norm2(x)
        return x + self.down(gelu_tanh(self.gate(y)) * self.up(y))


class Rounded(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.emb, self.blocks = nn.Embedding(11, WIDTH), nn.ModuleList(Block(how, number) for number in range(LAYERS))
        self.norm, self.head = NormByRoot(WIDTH), nn.Linear(WIDTH, 11, bias=False)

    def forward(self, tokens):
        x = self.emb(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
