"""Rotary position embedding: the frequencies of its kinds, and how far a layer turns queries and keys by them."""

import math

import torch


def turned_columns(c):
    """How many columns of a head are turned: the last ones with latent attention, else the first."""
    return c["qk_rope_head_dim"] or c["rotary_dim"] or c["head_dim"] or c["d_model"] // c["nhead"]


def linear(c, inv_freq, length):
    return inv_freq / c["rope_factor"], 1.0


def llama3(c, inv_freq, length):
    """Llama 3.1: only the low frequencies are divided."""
    low, high, old_length = c["rope_low_freq_factor"], c["rope_high_freq_factor"], c["rope_original_positions"]
    wavelength = 2 * math.pi / inv_freq
    lowered = torch.where(wavelength > old_length / low, inv_freq / c["rope_factor"], inv_freq)
    smooth = (old_length / wavelength - low) / (high - low)
    smoothed = (1 - smooth) * lowered / c["rope_factor"] + smooth * lowered
    between = ~(wavelength < old_length / high) & ~(wavelength > old_length / low)
    return torch.where(between, smoothed, lowered), 1.0


def yarn(c, inv_freq, length):
    """YaRN (Peng et al. 2023): pairs that turn often within the original positions stay, pairs that turn seldom are
    divided, those between are a mixture that is linear in the pair's number."""

    def pair_with(turns):
        """The number of the pair, a fraction, that turns so often within the original positions."""
        return columns * math.log(c["rope_original_positions"] / (turns * 2 * math.pi)) / (2 * math.log(c["rope_theta"]))

    columns = 2 * len(inv_freq)
    first, last = pair_with(c["rope_beta_fast"]), pair_with(c["rope_beta_slow"])
    if c["rope_truncate"]:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, columns - 1)
    width = last - first if last != first else 0.001
    divided = ((torch.arange(len(inv_freq)).float() - first) / width).clamp(0, 1)
    factor = c["rope_attention_factor"] or 0.1 * math.log(c["rope_factor"]) + 1.0
    return inv_freq / c["rope_factor"] * divided + inv_freq * (1 - divided), factor


def longrope(c, inv_freq, length):
    """LongRoPE (Ding et al. 2024): a divisor for each pair, of two lists by the length of the text."""
    original = c["rope_original_positions"]
    divisors = torch.tensor(c["rope_long_factors" if length > original else "rope_short_factors"])
    factor = c["rope_attention_factor"] or math.sqrt(1 + math.log(c["rope_factor"]) / math.log(original))
    return inv_freq / divisors, factor


SCALINGS = {"none": lambda c, inv_freq, length: (inv_freq, 1.0), "linear": linear, "llama3": llama3, "yarn": yarn,
            "longrope": longrope}


def angles(c, places):
    """cos and sin [pos, pair] of the positions with these numbers, times the scaling's factor; [batch, 1, pos, pair] if
    they are given by row."""
    columns = turned_columns(c)
    inv_freq = 1.0 / c["rope_theta"] ** (torch.arange(0, columns, 2).float() / columns)
    inv_freq, factor = SCALINGS[c["rope_scaling"]](c, inv_freq, int(places.max()) + 1)
    angle = places.float()[..., None] * inv_freq
    angle = angle[:, None] if places.dim() == 2 else angle
    return angle.cos() * factor, angle.sin() * factor


def turn(c, x, places=None):
    """All columns of x [..., pos, columns]; pairs are halves, or neighbours. `places` are the positions' numbers, if they
    aren't counted."""
    places = torch.arange(x.shape[-2]) if places is None else places
    cos, sin = (value.to(x.dtype) for value in angles(c, places))
    if c["rope_interleaved"]:
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1).flatten(-2)
    first, second = x.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return x * torch.cat((cos, cos), dim=-1) + turned * torch.cat((sin, sin), dim=-1)


def rotate(c, x, places=None):
    """The columns of heads [batch, head, pos, d_head] that RoPE turns; the others stay."""
    columns = turned_columns(c)
    if c["kv_lora_rank"] > 0:
        return torch.cat((x[..., :-columns], turn(c, x[..., -columns:], places)), dim=-1)
    return torch.cat((turn(c, x[..., :columns], places), x[..., columns:]), dim=-1)
