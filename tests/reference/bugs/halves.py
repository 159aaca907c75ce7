"""A decoder whose sines stand before its cosines and whose positions begin behind padding's number, as in fairseq."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from parts import attend, join, split, triangle

WIDTH, HEADS, LAYERS, PADDING = 16, 2, 2, 0


def sinusoids(positions, how):
    half = WIDTH // 2
    angles = positions[..., None] * torch.exp(torch.arange(half) * -(math.log(10000) / (half if "lower" in how else half - 1)))
    return torch.cat((torch.sin(angles), torch.cos(angles)), -1)


class Layer(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.fc1, self.fc2, self.how = nn.Linear(WIDTH, 24), nn.Linear(24, WIDTH), how

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (split(one(h), HEADS) for one in (self.q, self.k, self.v))
        x = x + self.o(join(attend(q, k, v, triangle(x.shape[1], self.how), WIDTH, self.how)))
        return x + self.fc2(F.relu(self.fc1(self.norm2(x))))


class Halves(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.embed_tokens, self.layer_norm, self.how = nn.Embedding(11, WIDTH), nn.LayerNorm(WIDTH), how
        self.layers, self.out = nn.ModuleList(Layer(how) for _ in range(LAYERS)), nn.Linear(WIDTH, 11, bias=False)

    def forward(self, tokens):
        given = tokens.ne(PADDING - 1).long()
        x = math.sqrt(WIDTH) * self.embed_tokens(tokens) + sinusoids(given.cumsum(1) + PADDING, self.how)
        for layer in self.layers:
            x = layer(x)
        return self.out(self.layer_norm(x))
