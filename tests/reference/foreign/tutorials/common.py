"""What the tutorials' cases say again and again."""

import torch
from torch import nn

from parts import attend, record, split

NHEAD = "no shape depends on it"
TABLE = "the positional code is stored and is used as it is"


def heads(answer):
    return {"nhead": {"answer": answer, "because": NHEAD}}


def said(answer, because):
    return {"answer": answer, "because": because}


def both(found, theirs, ours, how="", endings=("weight", "bias")):
    """Their weight and bias are our weight and bias; `endings` are what they call them."""
    for ending, our in zip(endings, ("weight", "bias")):
        found[f"{theirs}.{ending}"] = f"{ours}.{our}{how}"


def project(at, x, source, keep, heads, q, k, v, out, **options):
    """Attention of x to `source` by four Linears."""
    z = attend(at, split(q(x), heads), split(k(source), heads), split(v(source), heads), keep, **options)
    return record(f"{at}_out", out(z))


class Table(nn.Module):
    """A module whose only content is a buffer: a positional code."""

    def __init__(self, name, value):
        super().__init__()
        self.register_buffer(name, value)
