"""Writes state_dicts/: checkpoints as PyTorch modules save them, with an input and the module's own output.

Run with Debian's python3-torch:  OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/reference/make_state_dicts.py

Each folder has model.safetensors (the state_dict as it stands), inputs.safetensors, expected.safetensors ("output"), and
set.json: what a state_dict can't say, as the program's --set takes it. The seeds' modules are re-typed here in a few lines
each; only their attribute names matter, since those are a state_dict's keys.
"""
import copy
import json
import math
import os
import pathlib

import torch
from torch import nn

import safetensors_file

FOLDER = pathlib.Path(__file__).parent / "state_dicts"


def stored(value):
    value = value.detach().contiguous()
    if value.dtype == torch.bfloat16:
        return value.view(torch.int16).numpy().view("uint16")
    return value.numpy()


def save(name, module, inputs, output, settings):
    folder = FOLDER / name
    os.makedirs(folder, exist_ok=True)
    state = {key: stored(value) for key, value in module.state_dict().items()}
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


class Conv1D(nn.Module):
    """Hugging Face's GPT-2 has its weights the other way round: [in, out]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = nn.Parameter(0.2 * torch.randn(inputs, outputs)), nn.Parameter(0.2 * torch.randn(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class FusedAttention(nn.Module):
    """Causal (or not) self-attention whose q, k and v are thirds of one projection."""

    def __init__(self, linear, width, heads, names, bias=True, positions=None, causal=True):
        super().__init__()
        self.heads, self.names, self.causal = heads, names, causal
        options = {} if linear is Conv1D else {"bias": bias}
        setattr(self, names[0], linear(width, 3 * width, **options))
        setattr(self, names[1], linear(width, width, **options))
        if positions:
            self.register_buffer("bias", torch.ones(1, 1, positions, positions).tril())

    def forward(self, x):
        q, k, v = (y.unflatten(2, (self.heads, -1)).transpose(1, 2) for y in getattr(self, self.names[0])(x).chunk(3, 2))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(3))
        if self.causal:
            scores = scores + causal(x.size(1))
        z = torch.softmax(scores, -1) @ v
        return getattr(self, self.names[1])(z.transpose(1, 2).flatten(2))


class WeightOnlyNorm(nn.Module):
    """nanoGPT's LayerNorm without a bias."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, None, 1e-5)


class GptBlock(nn.Module):
    """The block of Hugging Face's GPT-2 (Conv1D), of minGPT and of nanoGPT (Linear)."""

    def __init__(self, linear, width, heads, bias, activation, positions):
        super().__init__()
        norm = nn.LayerNorm if bias else WeightOnlyNorm
        options = {} if linear is Conv1D else {"bias": bias}
        self.ln_1, self.ln_2 = norm(width), norm(width)
        self.attn = FusedAttention(linear, width, heads, ("c_attn", "c_proj"), bias, positions)
        self.mlp = nn.ModuleDict({"c_fc": linear(width, 4 * width, **options), "c_proj": linear(4 * width, width, **options)})
        self.activation = activation

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](self.activation(self.mlp["c_fc"](self.ln_2(x))))


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class Gpt(nn.Module):
    """The head is the embedding; nanoGPT stores it under both names, Hugging Face under one."""

    def __init__(self, linear, width, heads, vocabulary, positions, bias, activation, store_head):
        super().__init__()
        blocks = [GptBlock(linear, width, heads, bias, activation, positions) for _ in range(2)]
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(positions, width),
            "h": nn.ModuleList(blocks), "ln_f": (nn.LayerNorm if bias else WeightOnlyNorm)(width)})
        if store_head:
            self.lm_head = nn.Linear(width, vocabulary, bias=False)
            self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        parts = self.transformer
        x = parts["wte"](tokens) + parts["wpe"](torch.arange(tokens.size(1)))
        for block in parts["h"]:
            x = block(x)
        return torch.softmax(parts["ln_f"](x) @ parts["wte"].weight.T, -1)


class Head(nn.Module):
    """One head with matrices of its own, as in the lecture "Let's build GPT"."""

    def __init__(self, width, size, positions):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(width, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.ones(positions, positions).tril())

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(self.key.weight.size(0))
        scores = scores.masked_fill(self.tril[:x.size(1), :x.size(1)] == 0, float("-inf"))
        return torch.softmax(scores, -1) @ self.value(x)


class HeadsAttention(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.heads = nn.ModuleList([Head(width, width // heads, positions) for _ in range(heads)])
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], -1))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width), nn.Dropout(0.2))

    def forward(self, x):
        return self.net(x)


class HeadsBlock(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.sa, self.ffwd = HeadsAttention(width, heads, positions), FeedForward(width)
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.ffwd(self.ln2(x))


class HeadsGpt(nn.Module):
    """The language model of that lecture."""

    def __init__(self, width, heads, vocabulary, positions):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocabulary, width)
        self.position_embedding_table = nn.Embedding(positions, width)
        self.blocks = nn.Sequential(*[HeadsBlock(width, heads, positions) for _ in range(2)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.token_embedding_table(tokens) + self.position_embedding_table(torch.arange(tokens.size(1)))
        return torch.softmax(self.lm_head(self.ln_f(self.blocks(x))), -1)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class LlamaBlock(nn.Module):
    """Hugging Face's names; rotate-half RoPE, two queries to a key, a gated MLP."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        linear = lambda rows, columns: nn.Linear(columns, rows, bias=False)
        self.self_attn = nn.ModuleDict({"q_proj": linear(width, width), "k_proj": linear(width // 2, width),
                                        "v_proj": linear(width // 2, width), "o_proj": linear(width, width)})
        self.mlp = nn.ModuleDict({"gate_proj": linear(inner, width), "up_proj": linear(inner, width),
                                  "down_proj": linear(width, inner)})
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(width), RmsNorm(width)

    def rotated(self, x):
        size = x.size(3)
        angles = torch.arange(x.size(2))[:, None] / 10000.0 ** (torch.arange(0, size, 2) / size)
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
        return x * cos + torch.cat([-x[..., size // 2:], x[..., :size // 2]], -1) * sin

    def attend(self, x):
        split = lambda y, heads: y.unflatten(2, (heads, -1)).transpose(1, 2)
        attn = self.self_attn
        q = self.rotated(split(attn["q_proj"](x), self.heads))
        k = self.rotated(split(attn["k_proj"](x), self.heads // 2)).repeat_interleave(2, 1)
        v = split(attn["v_proj"](x), self.heads // 2).repeat_interleave(2, 1)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(3)) + causal(x.size(1))
        return attn["o_proj"]((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.input_layernorm(x))
        y = self.post_attention_layernorm(x)
        return x + self.mlp["down_proj"](nn.functional.silu(self.mlp["gate_proj"](y)) * self.mlp["up_proj"](y))


class Llama(nn.Module):
    def __init__(self, width, heads, inner, vocabulary):
        super().__init__()
        self.model = nn.ModuleDict({"embed_tokens": nn.Embedding(vocabulary, width),
                                    "layers": nn.ModuleList([LlamaBlock(width, heads, inner) for _ in range(2)]),
                                    "norm": RmsNorm(width)})
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.model["embed_tokens"](tokens)
        for layer in self.model["layers"]:
            x = layer(x)
        return torch.softmax(self.lm_head(self.model["norm"](x)), -1)


class VisionBlock(nn.Module):
    """A block as vision transformers name it: qkv and proj, fc1 and fc2; nothing is masked."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = FusedAttention(nn.Linear, width, heads, ("qkv", "proj"), causal=False)
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(width, 2 * width), "fc2": nn.Linear(2 * width, width)})

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp["fc2"](nn.functional.gelu(self.mlp["fc1"](self.norm2(x))))


class Vision(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.blocks, self.norm = nn.Sequential(VisionBlock(width, heads), VisionBlock(width, heads)), nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.blocks(x))


def rounded(module, dtype):
    """The module with numbers that `dtype` holds exactly, and a copy that stores them so."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(parameter.to(dtype))
    return module, copy.deepcopy(module).to(dtype)


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

    gpt = spread(Gpt(Conv1D, width, heads, 12, 9, True, gelu_tanh, False))
    save("gpt2", gpt, {"tokens": tokens}, gpt(tokens), {"nhead": heads})
    gpt = spread(Gpt(nn.Linear, width, heads, 12, 9, False, nn.functional.gelu, True))
    save("nanogpt", gpt, {"tokens": tokens}, gpt(tokens), {"nhead": heads})
    gpt = spread(HeadsGpt(width, heads, 12, 8))
    save("heads-gpt", gpt, {"tokens": tokens}, gpt(tokens), {})
    llama, halves = rounded(spread(Llama(width, heads, inner, 12)), torch.bfloat16)
    save("llama", halves, {"tokens": tokens}, llama(tokens), {"nhead": heads, "layer_norm_eps": 1e-5})
    vision, halves = rounded(spread(Vision(width, heads)), torch.float16)
    save("fused-qkv", halves, {"x": x}, vision(x),
         {"nhead": heads, "norm_first": "true", "activation": "gelu", "causal": "false"})


if __name__ == "__main__":
    main()
