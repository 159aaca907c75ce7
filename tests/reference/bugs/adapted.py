"""A decoder with unmerged LoRA adapters on its queries and values, experts whose parts have names of their own, and a table
of positions that begins two rows early; it returns the last position alone."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import attend, join, split, triangle

WIDTH, HEADS, LAYERS, EXPERTS, CHOSEN = 16, 2, 2, 3, 2


class Adapted(nn.Module):
    def __init__(self, how, rank=3, alpha=6):
        super().__init__()
        self.base_layer = nn.Linear(WIDTH, WIDTH)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(WIDTH, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, WIDTH, bias=False)})
        self.scaling = 1 if "adapter-not-scaled" in how else alpha / rank

    def forward(self, x):
        return self.base_layer(x) + self.lora_B["default"](self.lora_A["default"](x)) * self.scaling


class Attention(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.query, self.value = Adapted(how), Adapted(how)
        self.key, self.out, self.how = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), how

    def forward(self, x):
        query = self.query.base_layer if "adapter-left-out" in self.how else self.query
        q, k, v = (split(make(x), HEADS) for make in (query, self.key, self.value))
        return self.out(join(attend(q, k, v, triangle(x.shape[1], self.how), WIDTH, self.how)))


class Mixture(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.choose = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 20), nn.GELU(), nn.Linear(20, WIDTH)) for _ in range(EXPERTS))
        self.on = 1 if "next-expert" in how else 0

    def forward(self, x):
        best, which = self.choose(x).topk(CHOSEN, -1)
        weights = F.softmax(best, -1)
        gave = torch.zeros_like(x)
        for number in range(EXPERTS):
            expert = self.experts[(number + self.on) % EXPERTS]
            for slot in range(CHOSEN):
                here = which[..., slot] == number
                gave[here] += weights[..., slot][here][:, None] * expert(x[here])
        return gave


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.mixture = Attention(how), Mixture(how)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mixture(self.norm2(x))


class Places(nn.Embedding):
    def forward(self, length, first):
        return super().forward(torch.arange(first, first + length))


class WithAdapters(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.embed_tokens, self.embed_positions = nn.Embedding(11, WIDTH), Places(12, WIDTH)
        self.layers = nn.ModuleList(Block(how) for _ in range(LAYERS))
        self.final_norm, self.head, self.how = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 11, bias=False), how

    def forward(self, tokens):
        x = self.embed_tokens(tokens) + self.embed_positions(tokens.shape[1], 0 if "positions-from-row-0" in self.how else 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.final_norm(x)[:, [0 if "first-is-read" in self.how else -1]])
