"""A decoder of one text without a batch, as picoGPT writes it: functions over tensors in a dictionary, a head at a time by
matrices of its own [d_model, d_head], norms that multiply by their gain before they divide. Queries, keys and values are
clipped, and the logits scaled."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from parts import scaled, triangle

WIDTH, HEADS, LAYERS, CLIP = 16, 2, 2, 0.75


def norm(x, gain, shift):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / torch.sqrt(variance + 1e-5) + shift


def softmax(x):
    e = torch.exp(x - x.max(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)


class Pico(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how
        shapes = {"words": (11, WIDTH), "places": (8, WIDTH), "g": (WIDTH,), "b": (WIDTH,)}
        for i in range(LAYERS):
            shapes.update({f"{i}_{k}{h}": (WIDTH, WIDTH // HEADS) for k in "qkv" for h in range(HEADS)})
            shapes.update({f"{i}_out": (WIDTH, WIDTH), f"{i}_in": (WIDTH, 40), f"{i}_in_b": (40,), f"{i}_back": (40, WIDTH)})
            shapes.update({f"{i}_{k}": (WIDTH,) for k in ("g1", "b1", "g2", "b2", "out_b", "back_b")})
        self.p = nn.ParameterDict({name: nn.Parameter(torch.zeros(shape)) for name, shape in shapes.items()})

    def attention(self, x, i):
        kept, heads = triangle(len(x), self.how), []
        for h in range(HEADS):
            q, k, v = (x @ self.p[f"{i}_{which}{h}"] for which in "qkv")
            if "not-clipped" not in self.how:
                q, k, v = (one.clamp(-CLIP, CLIP) for one in (q, k, v))
            scores = scaled(q @ k.T, WIDTH // HEADS, WIDTH, self.how) + (1 - kept) * -1e10
            heads.append(softmax(scores) @ v)
        return torch.hstack(heads) @ self.p[f"{i}_out"] + self.p[f"{i}_out_b"]

    def forward(self, tokens):
        p = self.p
        x = F.one_hot(tokens, 11).float() @ p["words"] + p["places"][:len(tokens)]
        for i in range(LAYERS):
            x = x + self.attention(norm(x, p[f"{i}_g1"], p[f"{i}_b1"]), i)
            hidden = norm(x, p[f"{i}_g2"], p[f"{i}_b2"]) @ p[f"{i}_in"] + p[f"{i}_in_b"]
            hidden = 0.5 * hidden * (1 + torch.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden ** 3)))
            x = x + (hidden @ p[f"{i}_back"] + p[f"{i}_back_b"])
        return 0.3 * (norm(x, p["g"], p["b"]) @ p["words"].T)
