"""Five ways of writing the same decoder. A comment "-> NAME" stands on the line that makes the calls of that name, without
the numbers of layers: what the recorder writes down for each call is held against it."""

import functools

import torch
import torch.nn.functional as F
from helper import attention, timed
from torch import nn
from torch.utils.checkpoint import checkpoint

WIDTH, HEADS, WORDS = 8, 2, 11


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).triu(1)


# ---- a tutorial's: a module a part, functions in between


class TutorialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        q = self.q(x)  # -> blocks.N.attn.q
        k = self.k(x)  # -> blocks.N.attn.k
        scores = q @ k.transpose(-2, -1)  # -> blocks.N.attn/matmul
        scores = scores.masked_fill(causal(x.shape[1]), -1e9)  # -> blocks.N.attn/masked_fill
        pattern = F.softmax(scores, dim=-1)  # -> blocks.N.attn/softmax
        v = self.v(x)  # -> blocks.N.attn.v
        z = pattern @ v  # -> blocks.N.attn/matmul#2
        return self.out(z)  # -> blocks.N.attn.out


class TutorialBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.norm = TutorialAttention(), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 16), nn.Linear(16, WIDTH)

    def forward(self, x):
        x = x + self.attn(self.norm(x))  # -> blocks.N.attn blocks.N.norm
        hidden = F.gelu(  # -> blocks.N/gelu
            self.up(x))  # -> blocks.N.up
        return x + self.down(hidden)  # -> blocks.N.down


class Tutorial(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList([TutorialBlock(), TutorialBlock()])
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.embed(tokens)  # -> embed
        for block in self.blocks:
            x = block(x)  # -> blocks.N
        return self.head(x)  # -> head


# ---- containers: one line calls all that is in them


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        mlp = [nn.Linear(WIDTH, 16), nn.GELU(), nn.Linear(16, WIDTH)]
        self.layers = nn.Sequential(nn.LayerNorm(WIDTH), nn.Sequential(*mlp))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        stream = self.embed(tokens)  # -> embed
        stream = self.layers(stream)  # -> layers layers.N layers.N.N
        return self.head(stream)  # -> head


# ---- decorators, and activations that are computed again


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.q, self.k = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)

    @timed
    def mix(self, x):
        q = timed(self.q)(x)  # -> q
        k = functools.partial(self.k)(x)  # -> k
        return torch.softmax(q @ k.transpose(-2, -1), -1) @ x  # -> (model)/softmax (model)/matmul (model)/matmul#2

    @timed
    def forward(self, tokens):
        x = self.embed(tokens)  # -> embed
        x = checkpoint(self.mix, x)
        return self.head(x)  # -> head


# ---- functions of another file, einsum, several heads


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.embed(tokens)  # -> embed
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, -1).unbind(2)  # -> qkv
        z = attention(q, k, v)
        return self.head(z.reshape(batch, length, WIDTH))  # -> head


# ---- PyTorch's own layers, and a hook


class Torch(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.attn = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
        self.norm.register_forward_hook(self.squash)

    def squash(self, module, given, out):
        return F.silu(out)  # -> (model)/silu

    def forward(self, tokens):
        x = self.embed(tokens)  # -> embed
        mask = causal(x.shape[1])
        z, _ = self.attn(x, x, x, attn_mask=mask, need_weights=True)  # -> attn attn/*
        return self.head(self.norm(x + z))  # -> head norm


STYLES = (Tutorial, Sequence, Wrapped, Functional, Torch)
