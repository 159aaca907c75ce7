"""A decoder whose layers' parameters are stacked in one tensor each, with a softmax of its own and no module for anything."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from parts import scaled, triangle

WIDTH, HEADS, LAYERS = 16, 2, 2


def norm(x, gain):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


class Stacked(nn.Module):
    def __init__(self, how):
        super().__init__()
        size = WIDTH // HEADS
        shapes = {"words": (11, WIDTH), "places": (8, WIDTH), "g1": (LAYERS, WIDTH), "g2": (LAYERS, WIDTH), "gf": (WIDTH,),
                  "wo": (LAYERS, HEADS, size, WIDTH), "w1": (LAYERS, WIDTH, 24), "w2": (LAYERS, 24, WIDTH)}
        shapes |= {"w" + name: (LAYERS, HEADS, WIDTH, size) for name in "qkv"}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.zeros(shape)))
        self.how = how

    def forward(self, tokens):
        x = self.words[tokens] + self.places[:tokens.size(1)]
        kept = triangle(tokens.size(1), self.how)
        for l in range(LAYERS):
            y = norm(x, self.g1[l])
            q, k, v = (torch.einsum("bnd,hde->bhne", y, w[l]) for w in (self.wq, self.wk, self.wv))
            scores = scaled(torch.einsum("bhqe,bhke->bhqk", q, k), WIDTH // HEADS, WIDTH, self.how)
            powers = scores.masked_fill(kept == 0, -math.inf).exp()
            z = torch.einsum("bhqk,bhke->bhqe", powers / powers.sum(-1, keepdim=True), v)
            x = x + torch.einsum("bhqe,hed->bqd", z, self.wo[l])
            y = norm(x, self.g1[l] if "one-norm-for-both" in self.how else self.g2[l])
            x = x + F.gelu(y @ self.w1[l]) @ self.w2[l]
        return norm(x, self.gf) @ self.words.T
