"""A decoder under names of a stranger's: one norm for two parallel branches, ALiBi, one key head, LayerScale."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import scaled, triangle, weights_of


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.g * x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()


class Look(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        size = width // heads
        self.ask, self.offer, self.carry, self.join = (nn.Linear(width, out) for out in (width, size, size, width))
        self.register_buffer("steep", torch.tensor([2.0 ** (-8 * (h if "steep" in how else h + 1) / heads) for h in range(heads)]))
        self.heads, self.how = heads, how

    def forward(self, x):
        batch, length, width = x.shape
        q = self.ask(x).view(batch, length, self.heads, -1).transpose(1, 2)
        k, v = self.offer(x)[:, None], (self.offer if "values-of-keys" in self.how else self.carry)(x)[:, None]
        scores = scaled(q @ k.transpose(-1, -2), width // self.heads, width, self.how)
        at = torch.arange(length)
        if "no-alibi" not in self.how:
            scores = scores - self.steep[:, None, None] * (at[:, None] - at)
        z = weights_of(scores, triangle(length, self.how), width // self.heads, self.how) @ v
        return self.join(z.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        self.before, self.look = Norm(width), Look(width, heads, how)
        self.open, self.close = nn.Linear(width, 24), nn.Linear(24, width)
        self.one, self.other = nn.Parameter(torch.ones(width)), nn.Parameter(torch.ones(width))
        self.how = how

    def forward(self, x):
        y = self.before(x)
        looked, inner = self.look(y), self.close(F.gelu(self.open(y)))
        if "no-layer-scale" not in self.how:
            looked, inner = self.one * looked, self.other * inner
        return x + looked + inner


class Strange(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.words = nn.Embedding(11, 16)
        self.stack = nn.ModuleList(Layer(16, 2, how) for _ in range(2))
        self.last, self.say = Norm(16), nn.Linear(16, 11, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.stack:
            x = layer(x)
        return self.say(self.last(x))
