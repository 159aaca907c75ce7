"""Writes state_dicts/: checkpoints as PyTorch modules save them, with an input and the module's own output.

Run with Debian's python3-torch:  OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/reference/make_state_dicts.py

Each folder has model.safetensors (the state_dict as it stands), inputs.safetensors, expected.safetensors ("output"), and
set.json: what a state_dict can't say, as the program's --set takes it. The seeds' modules are re-typed here in a few lines
each; only their attribute names matter, since those are a state_dict's keys.
"""
import json
import math
import os
import pathlib

import torch
from torch import nn

import safetensors_file

FOLDER = pathlib.Path(__file__).parent / "state_dicts"


def save(name, module, inputs, output, settings, buffers=()):
    folder = FOLDER / name
    os.makedirs(folder, exist_ok=True)
    state = {key: value.detach().contiguous().numpy() for key, value in module.state_dict().items()}
    safetensors_file.save(folder / "model.safetensors", state)
    safetensors_file.save(folder / "inputs.safetensors", {key: value.numpy() for key, value in inputs.items()})
    safetensors_file.save(folder / "expected.safetensors", {"output": output.detach().contiguous().numpy()})
    (folder / "set.json").write_text(json.dumps(settings, indent=1) + "\n")


def spread(module):
    """Norms away from 1 and 0, so that a gain or a shift in the wrong place shows."""
    for name, parameter in module.named_parameters():
        if "norm" in name or "ln_" in name:
            with torch.no_grad():
                parameter.add_(0.3 * torch.randn_like(parameter))
    return module.eval()


class SeedAttention(nn.Module):
    """Queries from x, keys and values from `memory`; the attribute names are the caller's."""

    def __init__(self, width, heads, names):
        super().__init__()
        self.heads, self.names = heads, names
        for name in names:
            setattr(self, name, nn.Linear(width, width))

    def forward(self, x, memory, causal):
        query, key, value, out = (getattr(self, name) for name in self.names)

        def split(y):
            return y.view(y.size(0), y.size(1), self.heads, -1).transpose(1, 2)

        scores = split(query(x)) @ split(key(memory)).transpose(2, 3)
        scores = scores / math.sqrt(scores.new_tensor(x.size(2) / self.heads))
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, float("-inf"))
        z = torch.softmax(scores, -1) @ split(value(memory))
        return out(z.transpose(1, 2).reshape(x.shape))


PROJ = ("q_proj", "k_proj", "v_proj", "o_proj")


class SimpleDecoder(SeedAttention):
    """Seeds 000 and 001: one Post-Norm block whose projections stand in the block itself."""

    def __init__(self, width, heads):
        super().__init__(width, heads, PROJ)
        self.layernorm_att, self.layernorm_ffn = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up_proj, self.down_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.layernorm_att(x + super().forward(x, x, True))
        return self.layernorm_ffn(x + self.down_proj(torch.relu(self.up_proj(x))))


class Decoder(nn.Module):
    """Seed 001."""

    def __init__(self, layers, vocabulary, width, heads):
        super().__init__()
        self.layer_list = nn.ModuleList([SimpleDecoder(width, heads) for _ in range(layers)])
        self.emb, self.out = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.emb(tokens)
        for layer in self.layer_list:
            x = layer(x)
        return torch.softmax(self.out(x), -1)


class TransformerDecoderBlock(nn.Module):
    """Seed 002: Pre-Norm, the feed-forward a Sequential."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.self_attn, self.cross_attn = SeedAttention(width, heads, PROJ), SeedAttention(width, heads, PROJ)
        self.ffn = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, memory):
        y = self.norm1(x)
        x = x + self.self_attn(y, y, True)
        x = x + self.cross_attn(self.norm2(x), memory, False)
        return x + self.ffn(self.norm3(x))


class TransformerDecoder(nn.Module):
    """Seed 002's stack."""

    def __init__(self, layers, width, heads, inner):
        super().__init__()
        self.layers = nn.ModuleList([TransformerDecoderBlock(width, heads, inner) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x, memory):
        for layer in self.layers:
            x = layer(x, memory)
        return self.norm(x)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.w_2(torch.relu(self.w_1(x)))


class DecoderLayer(nn.Module):
    """Seed 004: Post-Norm, W_q … W_o, enc_dec_attn, ff."""

    def __init__(self, width, heads, inner):
        super().__init__()
        names = ("W_q", "W_k", "W_v", "W_o")
        self.self_attn, self.enc_dec_attn = SeedAttention(width, heads, names), SeedAttention(width, heads, names)
        self.ff = PositionwiseFeedForward(width, inner)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, memory):
        x = self.norm1(x + self.self_attn(x, x, True))
        x = self.norm2(x + self.enc_dec_attn(x, memory, False))
        return self.norm3(x + self.ff(x))


def causal(length):
    return torch.full((length, length), float("-inf")).triu(1)


def main():
    torch.manual_seed(7)
    width, heads, inner = 16, 4, 24
    x, memory = torch.randn(2, 5, width), torch.randn(2, 3, width)
    tokens = torch.randint(0, 12, (2, 5))
    both = {"x": x, "memory": memory}

    block = spread(SimpleDecoder(width, heads))
    save("simple-decoder", block, {"x": x}, block(x), {"nhead": heads})
    stack = spread(Decoder(2, 12, width, heads))
    save("decoder", stack, {"tokens": tokens}, stack(tokens), {"nhead": heads})
    block = spread(TransformerDecoderBlock(width, heads, inner))
    save("transformer-decoder-block", block, both, block(x, memory), {"nhead": heads, "norm_first": "true"})
    stack = spread(TransformerDecoder(2, width, heads, inner))
    save("transformer-decoder", stack, both, stack(x, memory), {"nhead": heads, "norm_first": "true"})
    layer = spread(DecoderLayer(width, heads, inner))
    save("decoder-layer", layer, both, layer(x, memory), {"nhead": heads})

    for name, norm_first, activation in (("nn-transformer-decoder", False, "relu"), ("nn-transformer-decoder-pre", True, "gelu")):
        layer = nn.TransformerDecoderLayer(width, heads, inner, activation=activation, norm_first=norm_first, batch_first=True)
        stack = spread(nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(width)))
        output = stack(x, memory, tgt_mask=causal(5))
        save(name, stack, both, output, {"nhead": heads, "norm_first": str(norm_first).lower(), "activation": activation})


if __name__ == "__main__":
    main()
