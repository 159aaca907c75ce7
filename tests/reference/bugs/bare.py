"""A decoder whose norms are functions without a gain, of queries and keys, too, with a scale of scores that is nobody else's.
It may find padding in its tokens itself, or be given what isn't."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import triangle

WIDTH, HEADS, LAYERS, PADDING = 16, 2, 2, 3


def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 24, bias=False), nn.Linear(24, WIDTH, bias=False)
        self.how = how

    def forward(self, x, kept):
        batch, length, _ = x.shape
        y = norm(x)
        q, k, v = (f(y).view(batch, length, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        if "no-query-key-norm" not in self.how:
            q, k = norm(q), norm(k)
        scores = q @ k.transpose(-1, -2) * WIDTH ** -0.2
        scores = scores.masked_fill(kept == 0, float("-inf"))
        x = x + self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.relu(self.up(norm(x))).square())


class Bare(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.words, self.places = nn.Embedding(11, WIDTH), nn.Embedding(8, WIDTH)
        self.blocks = nn.ModuleList(Block(how) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 11, bias=False)
        self.how = how

    def forward(self, tokens, keep=None):
        kept, positions = triangle(tokens.size(1), self.how), torch.arange(tokens.size(1))
        if "padding-within" in self.how or keep is not None:
            text = tokens != PADDING if keep is None else keep > 0
            kept, positions = kept * text[:, None, None, :], (text.cumsum(1) - 1).clamp(min=0)
        x = self.words(tokens) + self.places(positions)
        for block in self.blocks:
            x = block(x, kept)
        return self.head(norm(x))
