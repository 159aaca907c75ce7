"""Mixtures of experts, a position at a time: which experts it goes to, and what they add up to."""

import torch
from torch import nn

from parts import record


def choose(scores, count, correction=None, groups=1, top_groups=1, group_best=2):
    """The numbers of a position's experts, the best first; of equal ones the first."""
    value = scores if correction is None else scores + correction
    value = value.tolist()
    size = len(value) // groups

    # Transformers leaves the others' value at 0, not at minus infinity: no difference as long as all are above 0.
    assert groups == top_groups or min(value) > 0

    def worth(group):
        return sum(sorted(value[group * size:(group + 1) * size])[-group_best:])

    kept = sorted(range(groups), key=lambda group: (-worth(group), group))[:top_groups]
    allowed = [expert for expert in range(len(value)) if expert // size in kept]
    order = sorted(allowed, key=lambda expert: (-value[expert], expert))
    for one, next_one in zip(order[:count], order[1:]):
        assert value[one] - value[next_one] > 2e-5, "so near that rounding decides"
    return order[:count]


def route(at, logits, count, kind="softmax", normalize=False, scale=1.0, correction=None, groups=1, top_groups=1,
          group_best=2):
    """logits [batch, pos, expert] -> the chosen [batch, pos, slot] and their weights"""
    record(f"{at}.router_logits", logits)
    scores = record(f"{at}.router_scores", logits.softmax(-1) if kind == "softmax" else logits.sigmoid())
    chosen = torch.tensor([[choose(row, count, correction, groups, top_groups, group_best) for row in text] for text in scores])
    record(f"{at}.expert", chosen.float())
    weight = torch.gather(scores, -1, chosen)
    weight = weight / weight.sum(-1, keepdim=True) if normalize else weight
    return chosen, record(f"{at}.expert_weight", weight * scale)


def mixed(at, x, chosen, weight, expert):
    """The weighted sum. expert(number, row) gives what an MLP goes through: up, gate, both together, and its output."""
    rows = [[[expert(int(number), x[b, p]) for number in chosen[b, p]] for p in range(x.size(1))] for b in range(len(x))]
    for n, name in enumerate(("pre", "gate", "post", "expert_out")):
        whole = torch.stack([torch.stack([torch.stack([slot[n] for slot in at_p]) for at_p in text]) for text in rows])
        record(f"{at}.{name}", whole)
    return torch.einsum("bps,bpsd->bpd", weight, whole)


def through(up, gate, down, act, row):
    """One expert's MLP for one row."""
    pre, gated = up(row), gate(row)
    post = act(gated) * pre
    return pre, gated, post, down(post)


def shared(at, x, mlp, gate=None):
    """The MLP that all positions share; `gate` gives a number for each."""
    pre, gated, post, out = through(mlp.up_proj, mlp.gate_proj, mlp.down_proj, torch.nn.functional.silu, x)
    for name, value in (("pre", pre), ("gate", gated), ("post", post)):
        record(f"{at}.shared.{name}", value)
    if gate is not None:
        out = record(f"{at}.shared_weight", torch.sigmoid(gate(x))) * out
    return record(f"{at}.shared_out", out)


class Plain(nn.Module):
    """Three matrices, by the names that a family has for them."""

    def __init__(self, d, ff, names=("gate_proj", "up_proj", "down_proj")):
        super().__init__()
        for name, (width, into) in zip(names, ((ff, d), (ff, d), (d, ff))):
            setattr(self, name, nn.Linear(into, width, bias=False))
