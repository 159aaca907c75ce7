"""What the modules of this folder are made of: attention, norms, positions, sums, by the names of the contract.

A module has its own parameters under its own names and hands them to these functions. Nothing here is shared with
decoder.py.
"""

import contextlib
import math
from dataclasses import dataclass
from typing import Callable, List, Optional

import torch
import torch.nn.functional as F
from torch import nn

_traces = []


@contextlib.contextmanager
def recording():
    """Within it, what is recorded comes into the dict that this gives, in the order of computation."""
    trace = {}
    _traces.append(trace)
    try:
        yield trace
    finally:
        _traces.pop()


_eager = []


@contextlib.contextmanager
def eager():
    """Within it, a hidden score gets float32's lowest number added, as in transformers' eager attention (masking_utils.py,
    eager_mask): a query that sees nothing weighs all keys alike."""
    _eager.append(True)
    try:
        yield
    finally:
        _eager.pop()


def record(name, tensor):
    if _traces and name is not None:
        assert name not in _traces[-1], name
        _traces[-1][name] = tensor.detach().clone()
    return tensor


# --- positions --------------------------------------------------------------------------------------------------------


def sinusoidal(length, width):
    """Sine and cosine in turn: the code of "Attention Is All You Need"."""
    angle = torch.arange(length).double()[:, None] / 10000 ** (torch.arange(width)[None] // 2 * 2 / width)
    return torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos()).float()


def sinusoidal_halves(length, width):
    """All sines, then all cosines: Marian's."""
    table = sinusoidal(length, width)
    return torch.cat((table[:, 0::2], table[:, 1::2]), dim=1)


def frequencies(width, theta):
    return 1.0 / theta ** (torch.arange(0, width, 2).float() / width)


def llama3_frequencies(width, theta, scaling):
    """Llama 3.1: slow waves are slowed by the factor, fast ones stay, and those between are mixed."""
    out = []
    for frequency in frequencies(width, theta).tolist():
        turns = scaling["original_max_position_embeddings"] * frequency / (2 * math.pi)
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        out.append(kept * frequency + (1 - kept) * frequency / scaling["factor"])
    return torch.tensor(out)


def yarn_frequencies(width, theta, factor, original, fast=32.0, slow=1.0, truncate=True):
    """YaRN: a pair is kept or divided by where it stands between the two that turn `fast` and `slow` times within the
    original positions; these two are found by solving turns(pair) = original · theta^(-2 pair / width) / 2π."""
    def pair(turns):
        return width / 2 * math.log(original / (2 * math.pi * turns), theta)

    first, last = pair(fast), pair(slow)
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, width - 1)
    out = []
    for number, frequency in enumerate(frequencies(width, theta).tolist()):
        divided = min(max((number - first) / max(last - first, 1e-3), 0.0), 1.0)
        out.append(frequency * (1 - divided) + frequency / factor * divided)
    return torch.tensor(out)


def rotary(frequency, interleaved=False, factor=1.0):
    """RoPE by complex numbers: the first 2 · len(frequency) columns are turned, pairs being halves or neighbours, and
    stretched by the factor."""

    def turn(x):
        count = len(frequency)
        head, rest = x[..., :2 * count], x[..., 2 * count:]
        pairs = head.unflatten(-1, (count, 2)) if interleaved else head.unflatten(-1, (2, count)).transpose(-1, -2)
        angle = torch.outer(torch.arange(x.size(-2)).float(), frequency)
        turned = torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.full_like(angle, factor), angle)
        pairs = torch.view_as_real(turned)
        head = pairs.flatten(-2) if interleaved else pairs.transpose(-1, -2).flatten(-2)
        return torch.cat((head, rest), dim=-1)

    return turn


def alibi(heads, length):
    """[head, query, key]: minus the slope times the distance; the slopes are powers of 2^(-8/heads)."""
    assert heads & (heads - 1) == 0
    slopes = torch.tensor([2.0 ** (-8.0 * (head + 1) / heads) for head in range(heads)])
    position = torch.arange(length)
    return -slopes[:, None, None] * (position[:, None] - position[None, :])


# --- norms ------------------------------------------------------------------------------------------------------------


def layer_norm(at, x, gain, shift=None, eps=1e-5):
    record(f"{at}.scale", torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps))
    return record(f"{at}.normalized", F.layer_norm(x, gain.shape, gain, shift, eps))


def std_norm(at, x, gain, shift, eps):
    """With the unbiased deviation, and eps outside of the root."""
    scale = record(f"{at}.scale", x.std(-1, keepdim=True) + eps)
    return record(f"{at}.normalized", gain * (x - x.mean(-1, keepdim=True)) / scale + shift)


def rms_norm(at, x, gain, eps):
    scale = torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
    if at is not None:
        record(f"{at}.scale", scale)
    out = x / scale * gain
    return out if at is None else record(f"{at}.normalized", out)


# --- sublayers --------------------------------------------------------------------------------------------------------


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def attend(at, q, k, v, keep, scale=None, bias=None, cap=None, fill=float("-inf"), sinks=None):
    """q [batch, head, query, d_head], k and v [batch, kv head, key, d_head] -> the heads side by side."""
    q, k, v = (record(f"{at}.{name}", value) for name, value in zip("qkv", (q, k, v)))
    k, v = (value.repeat_interleave(q.size(1) // k.size(1), dim=1) for value in (k, v))
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * (q.size(-1) ** -0.5 if scale is None else scale)
    scores = record(f"{at}.attn_scores", scores if bias is None else scores + bias)
    if cap:
        scores = record(f"{at}.capped_scores", cap * torch.tanh(scores / cap))
    keep = keep.expand(scores.shape)
    record(f"{at}.mask", keep.float())
    hidden = torch.full((), torch.finfo(scores.dtype).min)
    scores = scores + torch.where(keep, 0.0, hidden) if _eager else scores.masked_fill(~keep, fill)
    if sinks is not None:  # one more key of each head, which has no value
        whole = torch.exp(torch.logaddexp(torch.logsumexp(scores, -1, keepdim=True), sinks[:, None, None]))
        record(f"{at}.sink", torch.exp(sinks[:, None, None]) / whole)
        pattern = record(f"{at}.pattern", torch.exp(scores) / whole)
    else:
        pattern = record(f"{at}.pattern", torch.softmax(scores, dim=-1))
    z = record(f"{at}.z", torch.einsum("bhqk,bhke->bhqe", pattern, v))
    return z.transpose(1, 2).flatten(2)


def mlp(at, x, up, down, act, gate=None):
    pre = record(f"{at}.mlp.pre", up(x))
    post = act(pre) if gate is None else act(record(f"{at}.mlp.gate", gate(x))) * pre
    return record(f"{at}.mlp_out", down(record(f"{at}.mlp.post", post)))


def sums(at, x, sublayers, place, scale=1.0):
    """A block: a sublayer is (name of its sum, function, norm) or (…, norm, norm behind it); `place` says where. What is
    added is scaled."""
    x = record(f"{at}.resid_pre", x)
    for n, (total, function, norm, *behind) in enumerate(sublayers, start=1):
        h = norm(f"{at}.ln{n}", x) if place in ("pre", "peri") else x
        y = function(h)
        if place in ("peri", "reordered"):
            y = (behind[0] if behind else norm)(f"{at}.ln{n}_post", y)
        x = record(f"{at}.{total}", x + scale * y)
        if place == "post":
            x = norm(f"{at}.ln{n}", x)
    return x


# --- the whole --------------------------------------------------------------------------------------------------------


@dataclass
class Stack:
    embed: Callable  # (prefix of the names, tokens) -> [batch, pos, d_model]
    blocks: List[Callable]  # (name, x, keep, memory, which of it to keep) -> x
    final: Optional[Callable] = None  # (name, x) -> x


def key_mask(mask, tokens):
    """[batch, 1, 1, key]"""
    return torch.ones_like(tokens, dtype=torch.bool)[:, None, None] if mask is None else mask[:, None, None] != 0


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def window(length, size):
    """Which keys a query sees through a sliding window: itself and size − 1 before it."""
    return torch.ones(length, length, dtype=torch.bool).triu(1 - size)


def logits_of(inputs, head, decoder, encoder=None):
    memory = memory_keep = None
    if encoder is not None:
        tokens = inputs["encoder_tokens"]
        memory_keep = key_mask(inputs.get("encoder_attention_mask"), tokens)
        memory = encoder.embed("encoder.", tokens)
        for layer, block in enumerate(encoder.blocks):
            memory = block(f"encoder.blocks.{layer}", memory, memory_keep, None, None)
        if encoder.final is not None:
            memory = encoder.final("encoder.ln_final", memory)
        record("encoder_out", memory)
    tokens = inputs["tokens"]
    keep = key_mask(inputs.get("attention_mask"), tokens) & causal(tokens.size(1))
    x = decoder.embed("", tokens)
    for layer, block in enumerate(decoder.blocks):
        x = block(f"blocks.{layer}", x, keep, memory, memory_keep)
    if decoder.final is not None:
        x = decoder.final("ln_final", x)
    return record("logits", head(x))


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def module(**parts):
    """A module that only holds others."""
    holder = nn.Module()
    for name, part in parts.items():
        setattr(holder, name, part)
    return holder
