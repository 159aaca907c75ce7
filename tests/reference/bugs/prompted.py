"""A decoder whose stream is made of tokens, places, the types of tokens and a prompt that is learned, which it cuts off at
the end; its norms stand behind the sums."""
import torch
from torch import nn
from torch.nn import functional as F

from parts import attend, join, split, triangle

WIDTH, HEADS, LAYERS, PROMPT = 16, 2, 2, 2


class Block(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.qkv, self.back = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.wide, self.narrow, self.how = nn.Linear(WIDTH, 24), nn.Linear(24, WIDTH), how

    def forward(self, x):
        q, k, v = (split(part, HEADS) for part in self.qkv(x).chunk(3, -1))
        update = self.back(join(attend(q, k, v, triangle(x.shape[1], self.how), WIDTH, self.how)))
        x = x + self.norm1(update) if "norm-before-sum" in self.how else self.norm1(x + update)
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Prompted(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.words, self.places, self.types = nn.Embedding(11, WIDTH), nn.Embedding(8, WIDTH), nn.Embedding(3, WIDTH)
        self.prompt = nn.Parameter(torch.randn(PROMPT, WIDTH))
        self.blocks = nn.ModuleList(Block(how) for _ in range(LAYERS))
        self.head, self.how = nn.Linear(WIDTH, 11, bias=False), how

    def forward(self, tokens):
        types = (torch.arange(tokens.shape[1]) > 1).long().expand(tokens.shape[0], -1)
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        if "types-left-out" not in self.how:
            x = x + self.types(types)
        prompt = self.prompt.expand(tokens.shape[0], -1, -1)
        x = torch.cat((x, prompt) if "prompt-behind" in self.how else (prompt, x), 1)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, PROMPT:])
