"""Typical wrong solutions: the function that is wrong, by the mistake. The lines that make the first wrong numbers end in
"# here"; a test reads them."""

import math

import torch
from solution import attention, linear


def transposed_weight(x, weight):
    return torch.matmul(x, weight)  # here


def ids_from_one(table, tokens):
    return torch.index_select(table, 0, tokens.reshape(-1) - 1).reshape(*tokens.shape, -1)


def sum_of_squares(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps) * weight


def layer_norm(x, weight, eps):
    x = x - x.mean(-1, keepdim=True)
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def gate_without_silu(x, w1, w2, w3):
    return linear(torch.sigmoid(linear(x, w1)) * linear(x, w3), w2)


def softmax_over_rows(x, dim):
    return torch.softmax(x, dim=0)  # here


def no_scale(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1))  # here
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), value)


def inverted_mask(query, key, value, mask):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(mask, -1e9)  # here
    return torch.matmul(torch.softmax(scores, dim=-1), value)


def rope_of_halves(x, theta):
    half = x.shape[-1] // 2
    angles = torch.outer(torch.arange(x.shape[-2]), theta ** (-2.0 * torch.arange(half) / x.shape[-1]))
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def rope_from_one(x, theta):
    half = x.shape[-1] // 2
    angles = torch.outer(torch.arange(1, x.shape[-2] + 1), theta ** (-2.0 * torch.arange(half) / x.shape[-1]))
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def no_causal_mask(x, wq, wk, wv, wo, heads):
    def split(y):
        return y.unflatten(-1, (heads, -1)).transpose(1, 2)

    everything = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
    z = attention(split(linear(x, wq)), split(linear(x, wk)), split(linear(x, wv)), everything)
    return linear(z.transpose(1, 2).flatten(-2), wo)


def summed_loss(logits, targets):
    at_target = logits.gather(-1, targets[..., None])[..., 0]
    return (torch.logsumexp(logits, -1) - at_target).sum()
