"""A decoder of today: sinks, a window and RoPE's base by layer, a layer without RoPE, and experts that a corrected sigmoid chooses."""
import torch
from torch import nn

import llama
from llama import Mlp
from parts import join, silu, split

LOCAL, FAR, WINDOW = 10.0, 500.0, 3


def turned(x, theta):
    size = x.size(3)
    angles = torch.arange(x.size(2))[:, None] / theta ** (torch.arange(0, size, 2) / size)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :size // 2], x[..., size // 2:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, width, heads, layer, how):
        super().__init__()
        self.heads, self.layer, self.how = heads, layer, how
        for part in "qkvo":
            setattr(self, part + "_proj", nn.Linear(width, width, bias=False))
        self.sinks = nn.Parameter(torch.zeros(heads))

    def base(self):
        """Of RoPE; none in the last layer."""
        far = 10000.0 if "rope-theta-10000" in self.how else FAR
        if self.layer == 0:
            return far if "rope-local-theta-ignored" in self.how else LOCAL
        return far if self.layer == 1 or "rope-in-every-layer" in self.how else None

    def forward(self, x):
        q, k, v = (split(proj(x), self.heads) for proj in (self.q_proj, self.k_proj, self.v_proj))
        if self.base() is not None:
            q, k = turned(q, self.base()), turned(k, self.base())
        length = x.size(1)
        kept = torch.ones(length, length).tril()
        if self.layer == 0:
            kept = kept.triu(1 - WINDOW)
        scores = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).masked_fill(kept == 0, float("-inf"))
        if "no-sinks" in self.how:
            weights = torch.softmax(scores, -1)
        else:
            sinks = self.sinks.view(1, -1, 1, 1).expand(scores.size(0), -1, length, 1)
            weights = torch.softmax(torch.cat([scores, sinks], -1), -1)[..., :-1]
        return self.o_proj(join(weights @ v))


class Mixture(nn.Module):
    def __init__(self, width, inner, experts, how):
        super().__init__()
        self.how = how
        self.gate = nn.Linear(width, experts, bias=False)
        self.gate.e_score_correction_bias = nn.Parameter(torch.zeros(experts))
        self.experts = nn.ModuleList([Mlp(width, inner, ()) for _ in range(experts)])

    def forward(self, x):
        scores = torch.sigmoid(self.gate(x))
        corrected = scores + self.gate.e_score_correction_bias
        chosen = corrected.topk(2).indices
        weights = (corrected if "correction-as-weight" in self.how else scores).gather(-1, chosen)
        if "expert-weights-not-normalized" not in self.how:
            weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            out = out + expert(x) * (weights * (chosen == number)).sum(-1, keepdim=True)
        return out


class Layer(llama.Layer):
    def __init__(self, width, heads, inner, layer, how):
        super().__init__(width, heads, inner, how)
        self.self_attn, self.mlp = Attention(width, heads, layer, how), Mixture(width, inner, 4, how)


class Today(llama.Llama):
    def __init__(self, how=(), width=16, heads=4, layers=3, inner=12, vocabulary=11):
        super().__init__(how, width, heads, 0, inner, vocabulary)
        self.layers = nn.ModuleList([Layer(width, heads, inner, layer, how) for layer in range(layers)])
