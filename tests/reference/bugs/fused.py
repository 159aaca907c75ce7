"""A decoder of one matrix a block for attention and MLP, as PaLM's, with queries that share one key and one value, and
norms that learn nothing; it counts the positions of what isn't padding. It may make its loss itself, or keep keys in a
cache that is long from the start."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import triangle

WIDTH, HEADS, LAYERS, PADDING, LENGTH = 16, 4, 2, 3, 8


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.sizes = (WIDTH, WIDTH // HEADS, WIDTH // HEADS, 48)
        self.all, self.out, self.back = nn.Linear(WIDTH, sum(self.sizes), bias=False), nn.Linear(WIDTH, WIDTH), nn.Linear(24, WIDTH)
        for kept in ("keys", "values"):
            self.register_buffer(kept, torch.zeros(1, 1, LENGTH, WIDTH // HEADS), persistent=False)
        self.how = how

    def forward(self, x, kept, positions):
        batch, length, _ = x.shape
        y = F.layer_norm(x, (WIDTH,))
        q, k, v, mlp = self.all(y).split(self.sizes, -1)
        q, k, v = q.view(batch, length, HEADS, -1).transpose(1, 2), k[:, None], v[:, None]
        if "static-cache" in self.how:
            self.keys[:, :, positions], self.values[:, :, positions] = k, v
            k, v = self.keys, self.values
        scores = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(kept == 0, float("-inf"))
        pattern = scores.softmax(-1).clone()  # as a cast to another type does
        gate, up = mlp.chunk(2, -1)
        after = x if "mlp-left-out" in self.how else x + self.back(F.silu(gate) * up)
        return after + self.out((pattern @ v).transpose(1, 2).reshape(batch, length, WIDTH))


class Places(nn.Embedding):
    def forward(self, tokens, first):
        text = tokens != PADDING
        return F.embedding((text.cumsum(1) + first) * text, self.weight)


class Fused(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.words, self.places = nn.Embedding(11, WIDTH), Places(LENGTH + 1, WIDTH)
        self.blocks = nn.ModuleList(Block(how) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 11, bias=False)
        self.how = how

    def forward(self, tokens, first=0):
        read = tokens[:, :-1] if "loss-within" in self.how else tokens
        positions = torch.arange(first, first + read.shape[1])
        if "static-cache" in self.how:
            kept = torch.arange(LENGTH) <= positions[:, None]
        else:
            kept = triangle(read.shape[1], self.how) * (read != PADDING)[:, None, None, :]
        x = self.words(read) + self.places(read, first)
        for block in self.blocks:
            x = block(x, kept, positions)
        logits = self.head(F.layer_norm(x, (WIDTH,)))
        if "loss-within" not in self.how:
            return logits
        return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:]), logits
