"""A decoder in Llama's manner: RMSNorm, RoPE, two query heads to a key head, a gated MLP."""
import torch
from torch import nn

from parts import attend, join, silu, split, triangle


class RmsNorm(nn.Module):
    def __init__(self, width, how):
        super().__init__()
        self.weight, self.how = nn.Parameter(torch.ones(width)), how

    def forward(self, x):
        if "layernorm-for-rmsnorm" in self.how:
            x = x - x.mean(-1, keepdim=True)
        squares = x.pow(2).sum(-1, keepdim=True) if "squares-summed" in self.how else x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(squares + 1e-5)
        return x * (1 + self.weight) if "gain-plus-one" in self.how else x * self.weight


def rotated(x, how):
    size = x.size(3)
    theta = 500000.0 if "rope-theta-500000" in how else 1000.0 if "rope-theta-1000" in how else 10000.0
    steps = torch.arange(0, size, 2) / (2 * size if "rope-slower" in how else size)
    angles = torch.arange(x.size(2))[:, None] / theta ** steps
    if "rope-backwards" in how:
        angles = -angles
    if "no-rope" in how:
        return x
    if "complex-rope" in how:
        halves = torch.view_as_complex(torch.stack([x[..., :size // 2], x[..., size // 2:]], -1).contiguous())
        turned = torch.view_as_real(halves * torch.polar(torch.ones_like(angles), angles))
        return torch.cat([turned[..., 0], turned[..., 1]], -1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if "rope-other-pairs" in how:
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(3)
    a, b = x[..., :size // 2], x[..., size // 2:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        self.heads, self.how = heads, how
        self.q_proj, self.o_proj = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k_proj, self.v_proj = nn.Linear(width, width // 2, bias=False), nn.Linear(width, width // 2, bias=False)

    def forward(self, x):
        how = self.how
        q, k, v = split(self.q_proj(x), self.heads), split(self.k_proj(x), self.heads // 2), split(self.v_proj(x), self.heads // 2)
        q, k = rotated(q, how), rotated(k, how)
        if "rope-on-values" in how:
            v = rotated(v, how)
        if "key-heads-tiled" in how:
            k, v = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        else:
            k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        return self.o_proj(join(attend(q, k, v, triangle(x.size(1), how).to(x.dtype), x.size(2), how)))


class Mlp(nn.Module):
    def __init__(self, width, inner, how):
        super().__init__()
        self.how = how
        self.gate_proj, self.up_proj = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        gate, up = self.gate_proj(x), self.up_proj(x)
        if "gate-of-sigmoid" in self.how:
            return self.down_proj(torch.sigmoid(gate) * up)
        if "gate-added" in self.how:
            return self.down_proj(silu(gate) + up)
        return self.down_proj(gate * silu(up) if "gate-and-up-swapped" in self.how else silu(gate) * up)


class Layer(nn.Module):
    def __init__(self, width, heads, inner, how):
        super().__init__()
        self.how = how
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(width, how), RmsNorm(width, how)
        self.self_attn, self.mlp = Attention(width, heads, how), Mlp(width, inner, how)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, how=(), width=16, heads=4, layers=2, inner=12, vocabulary=11):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([Layer(width, heads, inner, how) for _ in range(layers)])
        self.norm, self.lm_head = RmsNorm(width, how), nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))
