"""Which experts a position goes to, and how much each of them counts."""

import torch


def scores(c, logits):
    if c["router"] == "sparsemixer":
        return logits
    return torch.softmax(logits, dim=-1) if c["router"] == "softmax" else torch.sigmoid(logits)


def best(values, count):
    """The places of the `count` largest along the last axis, the largest first; of equal ones the first."""
    return torch.sort(values, dim=-1, descending=True, stable=True).indices[..., :count]


def choose(c, scores, correction):
    """The chosen experts [batch, pos, slot], the best first. The correction only chooses."""
    by = scores if correction is None else scores + correction
    if c["router_top_groups"] < c["router_groups"]:
        groups = by.unflatten(-1, (c["router_groups"], -1))
        worth = groups.sort(dim=-1, descending=True).values[..., :c["router_group_best"]].sum(-1)  # [batch, pos, group]
        allowed = torch.zeros_like(worth, dtype=torch.bool).scatter(-1, best(worth, c["router_top_groups"]), True)
        by = groups.masked_fill(~allowed[..., None], -torch.inf).flatten(-2)
    return best(by, c["experts_per_token"])


def weigh(c, scores, chosen):
    """What the chosen ones' outputs are multiplied by [batch, pos, slot]."""
    weights = scores.gather(-1, chosen)
    if c["router_normalize"]:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights * c["router_scale"]


def sparsemixer(c, logits, chosen):
    """Phi-3.5-MoE (Liu et al. 2023): each chosen one's share among those that aren't chosen before it and score nearly as
    well."""
    left, weights = logits, []
    for slot in chosen.unbind(-1):
        top = logits.gather(-1, slot[..., None])
        near = (top - logits) / torch.maximum(logits.abs(), top) <= 2 * c["router_jitter"]
        weights.append(left.masked_fill(~near, -torch.inf).softmax(-1).gather(-1, slot[..., None]))
        left = left.scatter(-1, slot[..., None], -torch.inf)
    return torch.cat(weights, dim=-1)


def linear(x, weight, bias, chosen):
    """Each slot's expert applied to its row. x is [batch, pos, slot, in], weight [expert, out, in]."""
    out = torch.einsum("bpsoi,bpsi->bpso", weight[chosen], x)
    return out if bias is None else out + bias[chosen]
