"""What the ways of writing a decoder share. `how` is a set of words: mistakes, and other ways of writing the same."""
import math

import torch
from torch import nn
from torch.nn import functional as F

INFINITY = float("inf")


def triangle(length, how):
    """The causal mask, 1 = kept [query, key]."""
    shift = 1 if "causal-one-too-far" in how else -1 if "causal-one-too-short" in how else 0
    kept = torch.ones(length, length).tril(shift)
    if "no-causal-mask" in how:
        kept = torch.ones(length, length)
    return kept


def scaled(scores, width, d_model, how):
    if "no-scale" in how or "query-scaled" in how or "scale-behind-mask" in how:
        return scores
    if "scale-by-d-model" in how:
        return scores / math.sqrt(d_model)
    if "scale-without-root" in how:
        return scores / width
    if "scale-multiplied" in how:
        return scores * math.sqrt(width)
    if "scale-by-heads" in how:
        return scores / math.sqrt(scores.size(1))
    return scores / math.sqrt(width)


def weights_of(scores, kept, width, how):
    """The pattern of scores [batch, head, query, key] under a mask, 1 = kept."""
    if "mask-inverted" in how:
        kept = 1 - kept
    if "mask-added-as-float" in how:
        return torch.softmax(scores + kept, -1)
    if "mask-after-softmax" in how:
        return torch.softmax(scores, -1).masked_fill(kept == 0, 0.0)
    if "additive" in how:
        scores = scores + torch.zeros_like(kept).masked_fill(kept == 0, -INFINITY)
    elif "additive-mask-of-ones" in how:
        scores = scores + torch.ones_like(kept).masked_fill(kept == 0, -INFINITY)
    elif "where" in how:
        scores = torch.where(kept == 0, torch.full((), -1e4, dtype=scores.dtype), scores)
    elif "in-place" in how:
        scores = scores.contiguous().masked_fill_(kept == 0, -INFINITY)
    else:
        fill = 1e-9 if "fill-tiny" in how else 0.0 if "fill-zero" in how else -1e9 if "finite-fill" in how else -INFINITY
        scores = scores.masked_fill(kept == 0, fill)
    if "scale-behind-mask" in how:
        scores = scores / math.sqrt(width)
    if "own-softmax" in how:
        powers = (scores - scores.max(-1, keepdim=True).values).exp()
        return powers / powers.sum(-1, keepdim=True)
    dim = -2 if "softmax-over-queries" in how else 1 if "softmax-over-heads" in how else -1
    return torch.softmax(scores, dim)


def attend(q, k, v, kept, d_model, how):
    """[batch, head, pos, width] each -> [batch, head, query, width]"""
    width = q.size(-1)
    if "query-scaled" in how:
        q = q / math.sqrt(width)
    if "einsum" in how:
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k)
    else:
        scores = q @ k.transpose(-2, -1)
    return weights_of(scaled(scores, width, d_model, how), kept, width, how) @ v


def split(x, heads, how=()):
    batch, length, width = x.shape
    if "heads-by-view" in how:
        return x.reshape(batch, heads, length, width // heads)
    if "heads-strided" in how:
        return x.view(batch, length, width // heads, heads).permute(0, 3, 1, 2)
    return x.view(batch, length, heads, width // heads).transpose(1, 2)


def join(x, how=()):
    batch, heads, length, width = x.shape
    if "heads-joined-by-view" in how:
        return x.contiguous().view(batch, length, heads * width)
    return x.transpose(1, 2).contiguous().view(batch, length, heads * width)


class NormOverPositions(nn.LayerNorm):
    def forward(self, x):
        centred = x - x.mean(1, keepdim=True)
        return centred / (x.var(1, unbiased=False, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_tanh_mistyped(x, how):
    cubic = 0.44715 if "gelu-constant" in how else 0.044715
    inner = 2 / math.pi if "gelu-without-root" in how else math.sqrt(2 / math.pi)
    return 0.5 * x * (1 + torch.tanh(inner * (x + cubic * x ** 3)))


class NormByHand(nn.LayerNorm):
    """A LayerNorm written out, with a mistake."""

    def __init__(self, width, how, eps=1e-5):
        super().__init__(width, eps=eps)
        self.how = how

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        about = 0.0 if "variance-about-zero" in self.how else mean
        variance = ((x - about) ** 2).mean(-1, keepdim=True) + self.eps
        return (x - mean) / (variance if "variance-not-rooted" in self.how else variance.sqrt()) * self.weight + self.bias


def sinusoid(length, width, how):
    base = 1000.0 if "sinusoid-base" in how else 10000.0
    angles = torch.arange(length)[:, None] * torch.exp(torch.arange(0, width, 2) * -(math.log(base) / width))
    if "cosines-first" in how:
        return torch.stack([angles.cos(), angles.sin()], -1).flatten(1)
    if "sinusoid-in-halves" in how:
        return torch.cat([angles.sin(), angles.cos()], -1)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


class Std(nn.Module):
    """The Annotated Transformer's norm: torch.std, eps outside."""

    def __init__(self, width, how, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2, self.eps, self.how = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), eps, how

    def forward(self, x):
        if "biased-variance" in self.how:
            return self.a_2 * (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + self.eps).sqrt() + self.b_2
        return self.a_2 * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps) + self.b_2


class NormByRoot(nn.Module):
    """An RMSNorm, in float32 whatever it is given."""

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


def turned_neighbours(x):
    """RoPE of neighbouring columns of [batch, head, pos, column]."""
    length, width = x.shape[-2:]
    angles = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(0, width, 2) / width))
    a, b = x[..., ::2].float(), x[..., 1::2].float()
    turned = torch.stack((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)
    return turned.flatten(-2).to(x.dtype)


def spread(module, seed):
    """Parameters with enough spread that every one of them shows."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dim() > 1:
                table = any(word in name for word in ("emb", "wte", "wpe", "lut"))
                parameter.copy_(torch.randn_like(parameter) * (1.0 if table else 1.5 / math.sqrt(parameter.size(-1))))
            else:
                gain = name.endswith("a_2") or ("norm" in name or "ln" in name) and name.endswith("weight")
                parameter.copy_(float(gain) + 0.3 * torch.randn_like(parameter))
    return module


relu, silu, gelu = F.relu, F.silu, F.gelu
