"""The decoder of docs/bisect.md, as a tutorial would write it, with a bug: tutorial.py TRACE, or tutorial.py TRACE --fixed."""
import math
import sys

import torch
from torch import nn

from record import record  # decoderscope recorder > record.py


class SelfAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.to_queries, self.to_keys, self.to_values = (nn.Linear(dim, dim) for _ in range(3))
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        batch, length, dim = x.shape

        def heads(y):
            return y.view(batch, length, self.n_heads, self.head_dim).transpose(1, 2)

        q, k, v = heads(self.to_queries(x)), heads(self.to_keys(x)), heads(self.to_values(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # The bug: what lies two positions ahead is hidden, where it should be one.
        future = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1 if FIXED else 2)
        weights = torch.softmax(scores.masked_fill(future, -1e9), dim=-1)
        return self.to_out((weights @ v).transpose(1, 2).reshape(batch, length, dim))


class Layer(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.attention, self.attention_norm = SelfAttention(dim, n_heads), nn.LayerNorm(dim)
        self.mlp, self.mlp_norm = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim)), nn.LayerNorm(dim)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class StoryTeller(nn.Module):
    def __init__(self, vocabulary=20, dim=16, n_heads=4, n_layers=2, length=16):
        super().__init__()
        self.token_embedding, self.position_embedding = nn.Embedding(vocabulary, dim), nn.Embedding(length, dim)
        self.layers = nn.ModuleList([Layer(dim, n_heads) for _ in range(n_layers)])
        self.final_norm, self.to_logits = nn.LayerNorm(dim), nn.Linear(dim, vocabulary)

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(tokens.size(1)))
        for layer in self.layers:
            x = layer(x)
        return self.to_logits(self.final_norm(x))


if __name__ == "__main__":
    FIXED = "--fixed" in sys.argv
    torch.manual_seed(0)
    model = StoryTeller().eval()
    with torch.no_grad(), record(model, sys.argv[1]):
        model(torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]]))
