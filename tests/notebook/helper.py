"""What the decoders of styles.py take from another file."""

import functools

import torch
import torch.nn.functional as F


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def attention(q, k, v):
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k)  # -> (model)/einsum
    pattern = F.softmax(scores, -1)  # -> (model)/softmax
    return torch.einsum("bhqk,bkhd->bqhd", pattern, v)  # -> (model)/einsum#2
