"""Writes formulas.json: what PyTorch computes, in float64, for every formula of the book, for texts in its own spelling,
and for random ones of both notations.

    python3 make_formulas.py
    python3 make_formulas.py 10000 FILE     # as many random ones of each notation; DECODERSCOPE_FORMULAS=FILE test_engine "*on demand*"

A case has its operands (axes, sizes, and what numbers they hold: `operand` below makes them from hashes, as the C++ test does), the
constants, and numbers that stand for whole tensors: "value" is Σ w · value for weights w that are hashes, too, and "gradients" has
Σ v · gradient for each operand, where the gradient is that of Σ w · value. A wrong cell, or one in another place, changes them.
"""

import json
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import rng

HERE = Path(__file__).resolve().parent

torch.manual_seed(0)
SIZE = dict(batch=2, pos=4, query=4, key=4, head=4, kv_head=2, d_head=4, d_model=16, d_ff=5, vocab=7, expert=6, slot=2, out=3, bucket=6,
            groups=3, past=2, all=6, rank=3, wide=8, one_head=1, time=5, dk=3, dv=2, chan=3, width=3, max_positions=9, pair=2, own=2, shared=2, new=4)
CONSTS = dict(SIZE, eps=1e-5, group=2, mask_value=-1e9, limit=1.5, alpha=1.702, theta=100.0, columns=4, first=2, own_d_head=2, members=2,
              group_best=2, top_groups=2, router_scale=2.5, residual_scale=1.3, update_scale=0.7, factor=0.5, embedding_scale=4.0, position_scale=0.3,
              attention_scale=0.2, logit_scale=0.5, ignored=-100, window=3, past=0, causal=1, max_distance=16, both_ways=0, begin=0, original=64, low=1.0, high=4.0)
HEADS, SCORES, X = "batch head pos d_head", "batch head query key", "batch pos d_model"
GQA = "batch kv_head key d_head"
t_ = torch.arange

def rope(x, interleaved, n, theta=100.0, at=None):
    p = torch.arange(x.shape[-2], dtype=torch.float64) if at is None else at[:, None].double()
    turn = x[..., :n]
    f = theta ** (-torch.arange(0, n, 2, dtype=torch.float64) / n)
    a = p[..., None] * f
    c, s = (a.repeat_interleave(2, -1), ) * 2 if interleaved else (torch.cat([a, a], -1),) * 2
    if interleaved: other = torch.stack([-turn[..., 1::2], turn[..., ::2]], -1).flatten(-2)
    else: other = torch.cat([-turn[..., n // 2:], turn[..., :n // 2]], -1)
    return torch.cat([turn * c.cos() + other * s.sin(), x[..., n:]], -1)

def sinusoidal(length=4):
    f = torch.exp(torch.arange(0, 16, 2, dtype=torch.float64) * -(math.log(10000) / 16))
    a = torch.arange(length, dtype=torch.float64)[:, None] * f
    return 0.3 * torch.stack([a.sin(), a.cos()], -1).flatten(-2)

def bias_rows():
    far = (t_(4)[:, None] - t_(4)).clamp(min=0)
    big = 3 + (torch.log(far.clamp(min=1).double() / 3) / math.log(16 / 3) * 3).floor().long()
    return torch.where(far < 3, far, big.clamp(max=5))

def by_distance(at=t_(4)[None]): return 2.0 ** (-2.0 * (t_(4) + 1))[:, None, None] * (at[:, None, :, None] - at[:, None, None, :])

def visible(): return (t_(4) <= t_(4)[:, None]) & (t_(4)[:, None] - t_(4) < 3)

def in_groups(s, c):
    by = s + c
    worth = by.view(2, 4, 3, 2).topk(2, -1)[0].sum(-1)
    keep = torch.zeros_like(worth).scatter(-1, worth.topk(2, -1)[1], 1.0).repeat_interleave(2, -1)
    return by.masked_fill(keep == 0, -math.inf).topk(2, -1)[1].double()

def llama3(f):
    keep = ((64 * f / (2 * math.pi) - 1) / 3).clamp(0, 1)
    return f / 0.5 * (1 - keep) + f * keep

def delta_net(alpha, beta, k, v):
    s, out = torch.zeros(3, 2, dtype=torch.float64), []
    for t in range(5):
        s = s * alpha[t]
        s = s + torch.outer(k[t], beta[t] * (v[t] - k[t] @ s))
        out.append(s)
    return torch.stack(out)

def grown(p): return (1 + 0.3 * torch.log1p(p.double() // 2))[..., None]

def among_ties(scores, expert):
    first, second = (expert[..., slot:slot + 1] for slot in (0, 1))
    def share(slot, left):
        top = scores.gather(-1, slot)
        near = (top - scores) / torch.maximum(scores.abs(), top) <= 0.4
        return 1 / torch.where(near & left, torch.exp(scores - top), 0.0).sum(-1)
    return torch.stack([share(first, t_(6) >= 0), share(second, t_(6) != first)], -1)

def with_sink(x, sink): return torch.softmax(torch.cat([x, sink[None, :, None, None].expand(2, 4, 4, 1)], -1), -1)
def grouped(x): return x.repeat_interleave(2, 1)
def rms(x, dims=(-1,)): return torch.sqrt(x.pow(2).mean(dims, keepdim=True) + 1e-5)

# Functions of the book, by torch.
ACTIVATIONS = {
    "relu": lambda pre: F.relu(pre), "relu2": lambda pre: F.relu(pre) ** 2, "silu": lambda pre: F.silu(pre), "gelu": lambda pre: F.gelu(pre),
    "gelu_tanh": lambda pre: F.gelu(pre, approximate="tanh"), "mish": lambda pre: F.mish(pre), "tanh2": lambda pre: torch.tanh(pre) ** 2,
}

# label -> operands and torch. An operand "name: axes | what", what: positive, ids N, bits, gate.
CASES = {
    "embed": ("E: vocab d_model; token: batch pos | ids 7", lambda E, token: E[token] * 4.0),
    "sinusoidal": ("", sinusoidal),
    "learned": ("P: max_positions d_model", lambda P: P[:4] * 0.3),
    "rope_halves": (f"x: {HEADS}", lambda x: rope(x, False, 4)),
    "rope_halves, half of the columns": (f"x: {HEADS}", lambda x: rope(x, False, 2), dict(columns=2)),
    "rope_interleaved": (f"x: {HEADS}", lambda x: rope(x, True, 4)),
    "rope_last": (f"x: {HEADS}; frequency: pair | positive", lambda x, frequency: rope_last(x, frequency)),
    "frequency_linear": ("", lambda: 100.0 ** (-t_(2).double() / 2) / 0.5),
    "frequency_llama3": ("", lambda: llama3(100.0 ** (-t_(2).double() / 2))),
    "alibi": (f"scores: {SCORES}", lambda scores: scores - 2.0 ** (-2.0 * (t_(4) + 1.0))[:, None, None].double() * (t_(4)[:, None] - t_(4))),
    "relative_bias": (f"scores: {SCORES}; table: bucket head", lambda scores, table: scores + table[bias_rows()].permute(2, 0, 1)),
    "linear": (f"x: {X}; W: out in; bias: out", lambda x, W, bias: F.linear(x, W, bias), dict(**{"in": 16})),
    "linear, no bias": (f"x: {X}; W: out in", lambda x, W: F.linear(x, W), dict(**{"in": 16})),
    "split_heads": (f"x: {X}; W: out in; bias: out", lambda x, W, bias: F.linear(x, W, bias).view(2, 4, 4, 4).transpose(1, 2), dict(**{"in": 16, "out": 16})),
    "join_heads": (f"z: {HEADS}; W: out in; bias: out", lambda z, W, bias: F.linear(z.transpose(1, 2).reshape(2, 4, 16), W, bias), dict(**{"in": 16})),
    "head_results": (f"z: {HEADS}; W: out in", lambda z, W: torch.einsum("bhpd,ohd->bhpo", z, W.view(3, 4, 4)), dict(**{"in": 16})),
    "sum_heads": ("result: batch head pos out; bias: out", lambda result, bias: result.sum(1) + bias),
    "scores": (f"query: batch head query d_head; key: {GQA}", lambda query, key: query @ grouped(key).mT / 2.0),
    "scores_scaled": (f"query: batch head query d_head; key: {GQA}", lambda query, key: query @ grouped(key).mT * 0.2),
    "soft_cap": (f"x: {SCORES}", lambda x: 1.5 * torch.tanh(x / 1.5)),
    "mask": ("padding: batch key | bits", lambda padding: (visible() & (padding[:, None, None, :] != 0)).expand(2, 4, 4, 4).double()),
    "fill": (f"scores: {SCORES}; mask: {SCORES} | bits", lambda scores, mask: scores.masked_fill(mask == 0, -1e9)),
    "softmax": (f"x: {SCORES}", lambda x: torch.softmax(x, -1)),
    "softmax_sink": (f"x: {SCORES}; sink: head", lambda x, sink: with_sink(x, sink)[..., :-1]),
    "sink": (f"x: {SCORES}; sink: head", lambda x, sink: with_sink(x, sink)[..., -1]),
    "dropout": (f"x: {X}; mask: {X} | bits", lambda x, mask: x * mask),
    "z": (f"pattern: {SCORES}; v: {GQA}", lambda pattern, v: pattern @ grouped(v)),
    "append": ("kept: batch head kept d_head; new: batch head new d_head", lambda kept, new: torch.cat([kept, new], 2), dict(kept=2, past=2)),
    "residual": (f"x: {X}; update: {X}", lambda x, update: 1.3 * x + 0.7 * update),
    "add_positions": (f"x: {X}; pos_embed: pos d_model", lambda x, pos_embed: x + pos_embed),
    "rescale": (f"x: {X}", lambda x: x * 0.5),
    "scale_rows": (f"x: {X}; weight: batch pos", lambda x, weight: x * weight[..., None]),
    "layernorm_scale": (f"x: {X}", lambda x: torch.sqrt(x.var(-1, unbiased=False) + 1e-5)),
    "layernorm_std_scale": (f"x: {X}", lambda x: x.std(-1) + 1e-5),
    "rmsnorm_scale": (f"x: {X}", lambda x: rms(x)[..., 0]),
    "layernorm": (f"x: {X}; scale: batch pos | positive; gain: d_model; shift: d_model", lambda x, scale, gain, shift: (x - x.mean(-1, keepdim=True)) / scale[..., None] * gain + shift),
    "layernorm, no gain": (f"x: {X}; scale: batch pos | positive; shift: d_model", lambda x, scale, shift: (x - x.mean(-1, keepdim=True)) / scale[..., None] + shift),
    "rmsnorm": (f"x: {X}; scale: batch pos | positive; gain: d_model", lambda x, scale, gain: x / scale[..., None] * gain),
    "rmsnorm_plus_one": (f"x: {X}; scale: batch pos | positive; weight: d_model", lambda x, scale, weight: x / scale[..., None] * (1 + weight)),
    "layernorm_whole": (f"x: {X}; gain: d_model; shift: d_model", lambda x, gain, shift: F.layer_norm(x, (16,), gain, shift, 1e-5)),
    "row_norm": (f"x: {X}; gain: d_model", lambda x, gain: x / rms(x) * gain),
    "head_norm": (f"x: {HEADS}; gain: d_head", lambda x, gain: x / rms(x) * gain),
    "norm_across_heads": (f"x: {HEADS}; gain: d_model", lambda x, gain: x / rms(x, (1, 3)) * gain.view(4, 1, 4)),
    **{name: ("pre: batch pos d_ff", ACTIVATIONS[name]) for name in ("relu", "relu2", "silu", "gelu", "gelu_tanh")},
    "sigmoid": (f"x: {X}", lambda x: torch.sigmoid(x)),
    "gated": ("pre: batch pos d_ff; gate: batch pos d_ff", lambda pre, gate: F.silu(gate) * pre),
    "swiglu_clamped": ("pre: batch pos d_ff; gate: batch pos d_ff", lambda pre, gate: (pre.clamp(-1.5, 1.5) + 1) * gate.clamp(max=1.5) * torch.sigmoid(1.702 * gate.clamp(max=1.5))),
    "columns": ("x: batch pos wide", lambda x: x[..., 2:5]),
    "columns_as_head": ("x: batch pos wide", lambda x: x[:, None, :, 2:5]),
    "join_columns": ("own: batch head pos own; shared: batch one_head pos shared", lambda own, shared: torch.cat([own, shared.expand(2, 4, 4, 2)], -1)),
    "router": (f"x: {X}; W: expert in; bias: expert", lambda x, W, bias: F.linear(x, W, bias), dict(**{"in": 16})),
    "router_softmax": ("logits: batch pos expert", lambda logits: logits.softmax(-1)),
    "router_sigmoid": ("logits: batch pos expert", lambda logits: logits.sigmoid()),
    "choose": ("scores: batch pos expert | bits; correction: expert | bits", lambda scores, correction: torch.sort(scores + correction, dim=-1, descending=True, stable=True)[1][..., :2].double()),
    "choose_in_groups": ("scores: batch pos expert | positive; correction: expert | positive", in_groups),
    "weigh": ("scores: batch pos expert | positive; expert: batch pos slot | ids 6", lambda scores, expert: 2.5 * scores.gather(-1, expert)),
    "weigh_normalized": ("scores: batch pos expert | positive; expert: batch pos slot | ids 6", lambda scores, expert: 2.5 * scores.gather(-1, expert) / scores.gather(-1, expert).sum(-1, keepdim=True)),
    "expert_linear": (f"x: {X}; W: expert out in; expert: batch pos slot | ids 6; bias: expert out", lambda x, W, expert, bias: torch.einsum("bpi,bpsoi->bpso", x, W[expert]) + bias[expert], dict(**{"in": 16})),
    "mix": (f"out: batch pos slot d_model; weight: batch pos slot; shared: {X}", lambda out, weight, shared: (out * weight[..., None]).sum(2) + shared),
    "logits": (f"x: {X}; W: vocab in; bias: vocab", lambda x, W, bias: 1.5 * torch.tanh(0.5 * F.linear(x, W, bias) / 1.5), dict(**{"in": 16})),
    "probs": ("logits: batch pos vocab", lambda logits: logits.softmax(-1)),
    "loss_per_token": ("logits: batch pos vocab; target: batch pos | targets 7", lambda logits, target: F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view(2, 4)),
    "mean_loss": ("loss_per_token: batch pos; target: batch pos | targets 7", lambda loss_per_token, target: loss_per_token[target != -100].mean()),
    "l2_norm": ("x: time dk", lambda x: x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-5)),
    "short_convolution": ("x: time chan; W: chan width", lambda x, W: F.silu(F.conv1d(F.pad(x.T[None], (2, 0)), W[:, None], groups=3)[0].T)),
    "delta_net": ("alpha: time | positive; beta: time | positive; k: time dk; v: time dv", delta_net),
    "delta_net_out": ("q: time dk; state: time dk dv", lambda q, state: torch.einsum("ti,tij->tj", q, state)),
    "row_norm_plus_one": (f"x: {X}; gain: d_model", lambda x, gain: x / rms(x) * (1 + gain)),
    "head_norm_plus_one": (f"x: {HEADS}; gain: d_head", lambda x, gain: x / rms(x) * (1 + gain)),
    "norm_across_heads_plus_one": (f"x: {HEADS}; gain: d_model", lambda x, gain: x / rms(x, (1, 3)) * (1 + gain.view(4, 1, 4))),
    "scores_alibi": (f"query: batch head query d_head; key: {GQA}", lambda query, key: query @ grouped(key).mT / 2.0 - by_distance()),
    "scores_scaled_alibi": (f"query: batch head query d_head; key: {GQA}", lambda query, key: query @ grouped(key).mT * 0.2 - by_distance()),
    "expert_linear_of_slots": (f"x: batch pos slot in; W: expert out in; expert: batch pos slot | ids 6; bias: expert out", lambda x, W, expert, bias: torch.einsum("bpsi,bpsoi->bpso", x, W[expert]) + bias[expert], dict(**{"in": 16})),
    **{name: ("pre: batch pos d_ff", ACTIVATIONS[name]) for name in ("mish", "tanh2")},
    "positions_from_mask": ("padding: batch pos | bits", lambda padding: (padding.detach().cumsum(-1) - 1).clamp(min=0) + 0 * padding),
    "sinusoidal_at": ("positions: batch pos | ids 9", lambda positions: sinusoidal(9)[positions]),
    "learned_at": ("P: max_positions d_model; positions: batch pos | ids 9", lambda P, positions: P[positions] * 0.3),
    "rope_halves_at": (f"x: {HEADS}; positions: batch pos | ids 9", lambda x, positions: rope(x, False, 4, at=positions)),
    "rope_interleaved_at": (f"x: {HEADS}; positions: batch pos | ids 9", lambda x, positions: rope(x, True, 4, at=positions)),
    "rope_last_at": (f"x: {HEADS}; frequency: pair | positive; positions: batch pos | ids 9",
                     lambda x, frequency, positions: rope_last(x, frequency, positions)),
    "scores_alibi_at": (f"query: batch head query d_head; key: {GQA}; positions: batch key | ids 9",
                        lambda query, key, positions: query @ grouped(key).mT / 2.0 - by_distance(positions)),
    "scores_scaled_alibi_at": (f"query: batch head query d_head; key: {GQA}; positions: batch key | ids 9",
                               lambda query, key, positions: query @ grouped(key).mT * 0.2 - by_distance(positions)),
    **{f"scores_{of}alibi_scaled{at}": (f"query: batch head query d_head; key: {GQA}" + ("; positions: batch key | ids 9" if at else ""),
                                        lambda query, key, positions=t_(4)[None], scale=scale: (query @ grouped(key).mT - by_distance(positions)) * scale)
       for of, scale in (("", 0.5), ("scaled_", 0.2)) for at in ("", "_at")},
    "layer_scale": (f"x: {X}; gain: d_model", lambda x, gain: x * gain),
    "dynamic_tanh": (f"x: {X}; alpha: one; gain: d_model; shift: d_model", lambda x, alpha, gain, shift: torch.tanh(alpha * x) * gain + shift, dict(one=1)),
    "positions_from_segments": (
        "segments: batch pos | bits",
        lambda segments: torch.tril(segments[:, :, None] == segments[:, None, :], -1).sum(-1).to(segments.dtype) + 0 * segments,
    ),
    "clip": (f"x: {HEADS}", lambda x: x.clamp(-1.5, 1.5)),
    "scale_queries": (f"x: {HEADS}", lambda x: x * grown(t_(4)), dict(beta=0.3, length=2)),
    "scale_queries_at": (f"x: {HEADS}; positions: batch pos | ids 9", lambda x, positions: x * grown(positions[:, None]), dict(beta=0.3, length=2)),
    "layernorm_plus_one": (f"x: {X}; scale: batch pos | positive; weight: d_model; shift: d_model", lambda x, scale, weight, shift: (x - x.mean(-1, keepdim=True)) / scale[..., None] * (1 + weight) + shift),
    "xielu": ("pre: batch pos d_ff; alpha_p: one; alpha_n: one", lambda pre, alpha_p, alpha_n: 0.5 * pre + torch.where(
        pre > 0, F.softplus(alpha_p) * pre ** 2, (0.5 + F.softplus(alpha_n)) * (torch.expm1(pre.clamp(max=-1e-6)) - pre)), dict(one=1)),
    "weigh_among_ties": ("scores: batch pos expert | positive; expert: batch pos slot | ids 6", among_ties, dict(jitter=0.2)),
    "head_layer_norm": (f"x: {HEADS}; gain: d_head; shift: d_head", lambda x, gain, shift: F.layer_norm(x, (4,), gain, shift, 1e-5)),
}

def rope_last(x, f, at=None):
    p = torch.arange(4, dtype=torch.float64) if at is None else at[:, None].double()
    a = p[..., None] * torch.cat([f, f])
    return x * a.cos() + torch.cat([-x[..., 2:], x[..., :2]], -1) * a.sin()


def operand(seed, name, shape, what):
    """normal, positive (0.5 to 1.5), bits (1 with probability 0.7), ids N, or targets N (of which the second and sixth are left out)."""
    kind, *n = what.split()
    if kind == "normal":
        return rng.normals(seed, name, shape)
    if kind == "positive":
        return rng.uniforms(seed, name, shape) + 0.5
    if kind == "bits":
        return (rng.uniforms(seed, name, shape) < 0.7) * 1.0
    ids = rng.integers(seed, name, shape, int(n[0]))
    if kind == "targets":
        ids.flat[1] = ids.flat[5] = -100
    return ids


def weighed(seed, name, tensor):
    w = torch.tensor(rng.normals(seed, name, tuple(tensor.shape)))
    return (w.reshape(tensor.shape) * tensor).sum()


def measured(case, value, tensors):
    """Adds the numbers that stand for the value and the gradients."""
    total = weighed(case["seed"], "value", value)
    case["shape"] = list(value.shape)
    case["value"] = total.item()
    if total.requires_grad:
        total.backward()
        case["gradients"] = {
            n: weighed(case["seed"], "gradient " + n, t.grad).item() for n, t in tensors.items() if t.grad is not None
        }
    return case


def made(case):
    tensors = {}
    for name, (axes, sizes, what) in case["operands"].items():
        t = torch.tensor(operand(case["seed"], name, tuple(sizes), what))
        tensors[name] = t.requires_grad_(t.is_floating_point())
    return tensors


def case_of(seed, label, spec, torch_of, more):
    sizes, operands = {**SIZE, **more}, {}
    for part in filter(None, spec.split("; ")):
        name, _, rest = part.partition(": ")
        names, _, what = rest.partition(" | ")
        operands[name] = (names.split(), [sizes[a] for a in names.split()], what or "normal")
    case = {"seed": seed, "label": label.split(",")[0], "operands": operands, "constants": {**CONSTS, **more}}
    if label in ACTIVATIONS:
        case["formula"] = f"post[…, m] = {label}(pre[…, m])"
    tensors = made(case)
    value = torch_of(*tensors.values()) if "groups" in label else torch_of(**tensors)
    return measured(case, value, tensors)


# ---- random formulas. Each node is a pair: its text, and its tensor as a function of the scope, a list of (index, size).

AXES = {"a": 2, "b": 3, "c": 4}
OPERANDS = {"x": "ab", "y": "b", "z": "bc", "u": "ca", "v": "abc"}
LETTERS = "ijmn"
FUNCTIONS = {
    "exp": lambda t: torch.exp(t), "tanh": torch.tanh, "atan": torch.atan, "sin": torch.sin, "cos": torch.cos, "σ": torch.sigmoid, "erf": torch.erf,
    "abs": torch.abs, "silu": F.silu, "gelu": F.gelu, "relu": F.relu,
}


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.read = set()
        self.ties = False

    def cell(self, scope):
        """An operand whose axes are all in scope; an index may be shifted, if a condition guards it, or come from a table."""
        by_axis = {}
        for index, axis in scope:
            by_axis.setdefault(axis, []).append(index)
        fitting = [n for n, axes in OPERANDS.items() if all(a in by_axis for a in axes)]
        if not fitting:
            return self.number()
        name = self.r.choice(fitting)
        self.read.add(name)
        indices = [self.r.choice(by_axis[a]) for a in OPERANDS[name]]
        texts, shifts, guard = list(indices), [0] * len(indices), ""
        if self.r.random() < 0.15:
            n = self.r.randrange(len(indices))
            shifts[n], texts[n], guard = 1, f"{indices[n]} − 1", indices[n]
        table = None
        if OPERANDS[name][0] == "b" and "a" in by_axis and self.r.random() < 0.2 and not guard:
            table = self.r.choice(by_axis["a"])
            texts[0], indices[0] = f"ids[{table}]", table
            self.read.add("ids")
        cell = f"{name}[{', '.join(texts)}]"

        def tensor(env, tensors):
            places = [env[i] - s for i, s in zip(indices, shifts)]
            if table:
                places[0] = tensors["ids"][places[0]]
            found = tensors[name][tuple(torch.broadcast_tensors(*[p.clamp(min=0) for p in places]))]
            return torch.where(env[guard] > 0, found, torch.zeros(())) if guard else found

        return (f"([{guard} ≥ 1] · {cell})" if guard else cell), tensor

    def number(self):
        n = self.r.choice([0.5, 1.0, 2.0, 3.0, 0.25, 1.5])
        return f"{n:g}", lambda env, tensors: torch.tensor(n, dtype=torch.float64)

    def expression(self, scope, depth):
        kind = self.r.random()
        if depth == 0 or kind < 0.1:
            return self.cell(scope) if self.r.random() < 0.8 else self.number()
        if kind < 0.25:
            name = self.r.choice(list(FUNCTIONS))
            text, tensor = self.expression(scope, depth - 1)
            if name == "exp":  # stays small
                return f"exp(tanh({text}))", lambda e, t: torch.exp(torch.tanh(tensor(e, t)))
            return f"{name}({text})", lambda e, t: FUNCTIONS[name](tensor(e, t))
        if kind < 0.5:
            return self.reduction(scope, depth)
        return self.pair(scope, depth)

    def reduction(self, scope, depth):
        letter = next((l for l in LETTERS if l not in [i for i, _ in scope]), None)
        if letter is None:
            return self.cell(scope)
        axis = self.r.choice("abc")
        text, tensor = self.expression(scope + [(letter, axis)], depth - 1)
        if letter not in text.replace("sin", "").replace("min", "").replace("sigmoid", ""):
            return text, tensor
        word = self.r.choice(["Σ", "Σ", "Σ", "mean", "max", "min"])
        size = AXES[axis]

        def reduced(env, tensors):
            whole = tensor({**{i: t.unsqueeze(-1) for i, t in env.items()}, letter: torch.arange(size)}, tensors)
            whole = whole.expand(torch.broadcast_shapes(whole.shape, (size,)))
            return {"Σ": lambda: whole.sum(-1), "mean": lambda: whole.mean(-1), "max": lambda: whole.max(-1)[0], "min": lambda: whole.min(-1)[0]}[word]()

        return f"({word}_{{{letter}: {axis}}} ({text}))", reduced

    def apart(self, a, b):
        """Both; of equal numbers torch gives each half of the gradient, the language the first all: such a case is left out."""
        a, b = torch.broadcast_tensors(a, b)
        self.ties = self.ties or bool((a == b).any())
        return a, b

    def pair(self, scope, depth):
        (s, a), (t, b) = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        return self.r.choice([
            lambda: (f"({s} + {t})", lambda e, x: a(e, x) + b(e, x)),
            lambda: (f"({s} − {t})", lambda e, x: a(e, x) - b(e, x)),
            lambda: (f"({s} · {t})", lambda e, x: a(e, x) * b(e, x)),
            lambda: (f"({s} · {t})", lambda e, x: a(e, x) * b(e, x)),
            lambda: (f"({s} / (({t})² + 1))", lambda e, x: a(e, x) / (b(e, x) ** 2 + 1)),
            lambda: (f"√(({s})² + 0.5)", lambda e, x: torch.sqrt(a(e, x) ** 2 + 0.5)),
            lambda: (f"log(({s})² + 1)", lambda e, x: torch.log(a(e, x) ** 2 + 1)),
            lambda: (f"max({s}, {t})", lambda e, x: torch.max(*self.apart(a(e, x), b(e, x)))),
            lambda: (f"min({s}, {t})", lambda e, x: torch.min(*self.apart(a(e, x), b(e, x)))),
            lambda: (f"({s} > {t} ? {s} : −({t}))", lambda e, x: torch.where(a(e, x) > b(e, x), a(e, x), -b(e, x))),
            lambda: (f"(stop({s}) · {t})", lambda e, x: a(e, x).detach() * b(e, x)),
        ])()


def random_case(seed):
    g = Generator(seed)
    left = g.r.choice(["a", "b", "ab", "bc", "abc", ""])
    scope = [(axis, axis) for axis in left]
    text, tensor = g.expression(scope, g.r.randint(2, 4))
    if not g.read - {"ids"}:
        return None
    head = f"[{', '.join(f'{i}: {axis}' for i, axis in scope)}]" if scope else ""
    case = {"seed": seed, "formula": f"f{head} = {text}", "operands": {}}
    for name in sorted(g.read):
        axes = OPERANDS.get(name, "a")
        case["operands"][name] = (list(axes), [AXES[a] for a in axes], "ids 3" if name == "ids" else "normal")
    tensors = made(case)
    env = {i: torch.arange(AXES[i]).reshape([-1] + [1] * (len(scope) - 1 - n)) for n, (i, _) in enumerate(scope)}
    value = tensor(env, tensors).to(torch.float64)
    value = value.expand([AXES[axis] for _, axis in scope])
    if g.ties or not torch.isfinite(value).all() or value.abs().max() > 1e6 or len(text) > 1200:
        return None
    return measured(case, value, tensors)


# ---- PyTorch's and NumPy's spelling. The text is the Python that computes it; its operands are those of `T` that it names.

T = {"q": HEADS, "k": HEADS, "v": HEADS, "query": "batch head query d_head", "key": "batch head key d_head", "shared_key": GQA,
     "scores": SCORES, "mask": f"{SCORES} | bits", "padding": "batch key | bits", "x": X, "y": X, "W": "d_ff d_model", "U": "out in",
     "gain": "d_model", "shift": "d_model", "c": "d_ff", "token": "batch pos | ids 7", "E": "vocab d_model", "pattern": SCORES, "one": "batch one_head pos d_head",
     "logits": "batch pos vocab", "s": ""}
TEXTS = """
softmax(q @ k.mT / sqrt(d_head), dim=-1)
softmax(q @ k.mT / sqrt(d_head), -1) @ v
F.softmax((q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(mask == 0, float("-inf")).masked_fill(scores > 3, -inf), dim=-1) @ v
weights = torch.softmax(query @ key.transpose(2, 3) * d_head ** -0.5, dim=3)
scores.softmax(-1)
scores.softmax(-1)[..., 0]
scores.softmax(dim=1)[:, 0, :, 1:3]
scores.softmax(dim=-1)[..., :2]
scores.log_softmax(-1)
torch.logsumexp(logits, -1)
logits - logits.logsumexp(dim=-1, keepdim=True)
einsum("bhqd,bhkd->bhqk", query, key)
torch.einsum("b h q d, b h k d -> b h q k", query, key) / d_head ** 0.5
np.einsum("bpd,od->bpo", x, W)
torch.einsum("bhpp->bhp", q)
torch.einsum("bpd,md", x, W)
torch.einsum("bpd,bpd->", x, y)
x.pow(2).mean(-1, keepdim=True)
x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain
(x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) * gain + shift
(x - x.mean(dim=-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + eps)
(x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)
np.std(x, axis=-1) + np.max(x, axis=-1) - np.square(x).sum(axis=-1)
x.var(1)
F.layer_norm(x, (d_model,), gain, shift, eps)
F.layer_norm(x, [16], eps=eps)
F.layer_norm(x, (16,), None, shift)
torch.where(mask == 1, scores, mask_value)
torch.where(scores > 0, scores, 2 * scores)
scores.masked_fill(mask == 0, -inf).amax(-1)
scores.masked_fill(mask[:, :1] == 0, mask_value)
torch.where(torch.arange(key)[None, :] <= torch.arange(query)[:, None], scores, -inf).softmax(-1)
scores.masked_fill((padding == 0)[:, None, None, :], mask_value)
scores.masked_fill(~(padding != 0).unsqueeze(1).unsqueeze(2) | (scores > 1), -1e9)
(scores > 0) * scores
((scores > 0) & (mask == 1)).double().mean((1, 2))
torch.relu(x) + F.relu(x) ** 2
x.exp().log() + torch.sin(x) * torch.cos(x) - torch.tanh(x) / torch.sigmoid(x) + torch.erf(x) + x.abs()
torch.sqrt(x ** 2 + 1) + torch.rsqrt(x.square() + 1) + x.sigmoid().reciprocal()
torch.maximum(x, y) - torch.minimum(x, shift) + torch.max(x, y)
x.clamp(-1, 1) + torch.clamp(x, min=0.5) + x.clamp(max=limit)
F.gelu(x @ W.T + c, approximate="tanh")
F.gelu(x) + F.silu(x) + F.leaky_relu(x, 0.2)
F.silu(x @ W.T) * (x @ W.T)
F.linear(x, W, c)
F.linear(x, U)
x @ U.T
x @ gain
gain @ W.mT
gain @ shift
torch.matmul(scores, v)
pattern @ v
query @ shared_key.repeat_interleave(group, dim=1).mT
(pattern @ v).transpose(1, 2)
v.permute(0, 2, 1, 3)
v.permute((3, 2, 1, 0)).sum((0, 2))
x.sum() + x.mean() * x.amin()
x.sum(-1) / x.mean(1).sum(-1, keepdim=True)
x.max(-1).values - x.min(dim=1, keepdim=True)[0].sum(-1)
scores.amax((-1, -2), keepdim=True)
logits.argmax(-1)
logits.argmin(dim=1, keepdim=True)
E[token]
E[token] * math.sqrt(d_model)
x[:, None] + v[:, 0].sum(-1)[..., None, None]
x[..., : d_model // 2] * x[..., 8:] - x[:, -1:, :8]
x[0]
x[0, -1]
one + v
one.squeeze(1)
one.squeeze(1).unsqueeze(-1)
x.detach() * x
-x ** 2
2 ** -x
s * x + s
x.detach() % 2 + x.detach() // 0.5 + x
x * x.shape[-1] / x.shape[0]
1.5 * torch.tanh(logits / 1.5)
gain.T
s.softmax(0) * s.sum(-1, keepdim=True) + s.max(0)[0] - s.var(0, unbiased=False)
s.transpose(0, -1).squeeze(0).logsumexp(dim=0) * s.mean((0,))
torch.cat((-v[..., d_head // 2:], v[..., :d_head // 2]), dim=-1) + torch.cat([v[:, :, :1], v.mean(2, keepdim=True), v[:, :, :2]], 2)
v.transpose(1, 2).reshape(batch, pos, d_model) - (x * 2).view(batch, pos, head, d_head).mT.reshape(2, -1, 16).softmax(1)
torch.gather(x, -1, token[..., None]) + torch.take_along_dim(logits, token.unsqueeze(-1), -1).expand(-1, pos, 3)
torch.tril(torch.ones(pos, pos)) * scores + scores.triu(diagonal=1).exp()
x.prod(-1) + (x * gain).cumprod(1).sum(-1)
F.cross_entropy(logits.transpose(1, 2), token, reduction="none", label_smoothing=0.1) + F.cross_entropy(logits.mT, token)
torch.cdist(x, y) + torch.einsum("...d,...d->...", x, y)[..., None]
F.kl_div(logits.log_softmax(-1), logits.mean(1, keepdim=True).softmax(-1), reduction="batchmean")
"""


def python_value(text, tensors):
    """Eval'd where operands that the text passes to NumPy are arrays."""
    _, _, code = text.rpartition("weights = ")
    root = lambda t: torch.sqrt(torch.as_tensor(t, dtype=torch.float64))
    numbers = {**CONSTS, "inf": math.inf}
    tensors = {n: t.detach().numpy() if "np." in text else t for n, t in tensors.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = eval(code, {"torch": torch, "F": F, "np": np, "math": math, "einsum": torch.einsum, "softmax": torch.softmax, "sqrt": root, **numbers, **tensors})
    return torch.as_tensor(value).to(torch.float64)


def text_case(seed, text, operands, constants):
    case = {"seed": seed, "text": text, "operands": operands, "constants": constants}
    tensors = made(case)
    return case, tensors, python_value(text, tensors)


def written_texts():
    cases = []
    for seed, text in enumerate(filter(None, TEXTS.split("\n"))):
        names = {w for w in "".join(c if c.isalnum() or c == "_" else " " for c in text).split()}
        operands = {}
        for name in sorted(names & set(T)):
            axes, _, what = T[name].partition(" | ")
            if f"arange({name})" not in text:
                operands[name] = (axes.split(), [({**SIZE, "in": 16})[a] for a in axes.split()], what or "normal")
        constants = {n: CONSTS[n] for n in CONSTS if n not in operands}
        for seed in range(20000 + seed, 30000, 100):
            case, tensors, value = text_case(seed, text, operands, constants)
            if torch.isfinite(value).all():  # no row is masked as a whole
                cases.append(measured(case, value, tensors))
                break
    return cases


class TextGenerator:
    """Random Python of tensors. What PyTorch refuses is left out."""
    def __init__(self, seed): self.r = random.Random(seed)

    def text(self, depth):
        if depth == 0:
            return self.r.choice(["x", "y", "z", "u", "v", "x", "z", "v", "0.5", "2"])
        t, s, d = self.text(depth - 1), self.text(depth - 1), self.r.choice([-1, -2, 0, 1])
        return self.r.choice([
            lambda: f"({t} + {s})", lambda: f"({t} - {s})", lambda: f"({t} * {s})", lambda: f"({t} @ {s})", lambda: f"({t} @ {s})",
            lambda: f"{t}.tanh()", lambda: f"torch.sigmoid({t})", lambda: f"F.silu({t})", lambda: f"torch.exp(torch.sin({t}))", lambda: f"F.gelu({t})",
            lambda: f"{t}.mT", lambda: f"{t}.transpose({d}, -1)", lambda: f"{t}.unsqueeze({d})", lambda: f"{t}[{self.r.choice(['None', '..., None', '0', ':, None', '-1', '..., 1:', ':, :2', '..., 0'])}]",
            lambda: f"{t}.softmax({d})", lambda: f"{t}.log_softmax({d})", lambda: f"{t}.mean({d}, keepdim=True)", lambda: f"{t}.sum({d})",
            lambda: f"torch.logsumexp({t}, {d})", lambda: f"{t}.max({d}, keepdim=True).values", lambda: f"({t} - {t}.mean(-1, keepdim=True)) / torch.sqrt({t}.var(-1, unbiased=False, keepdim=True) + 1)",
            lambda: f"torch.where({t} > 0.1, {t}, {s})", lambda: f"{t}.masked_fill({s} > 0, 0.5)", lambda: f"({t}) ** 2", lambda: f"{t} / ({s} ** 2 + 1)", lambda: f"(-{t})",
            lambda: f"(({t} > 0) & ({s} < 1)) * {t}", lambda: f"F.layer_norm({t}, ({t}.shape[-1],))", lambda: f"torch.sqrt({t}.var({d}, keepdim=True) + 1)",
        ])()


def random_text(seed):
    text = TextGenerator(seed).text(random.Random(-seed).randint(1, 4))
    operands = {n: (list(axes), [AXES[a] for a in axes], "normal") for n, axes in OPERANDS.items() if n in "xyzuv" and n in text.replace("exp", "").replace("max", "")}
    if len(text) > 300 or not operands:
        return None
    try:
        case, tensors, value = text_case(seed, text, operands, {})
    except (RuntimeError, IndexError, TypeError, AttributeError, SyntaxError):
        return None
    if value.dim() > 6 or value.numel() == 0 or not torch.isfinite(value).all() or value.abs().max() > 1e6 or not value.requires_grad:
        return None
    case = measured(case, value, tensors)
    return case if all(math.isfinite(g) for g in case.get("gradients", {}).values()) else None


def many(one, count, seed):
    found = []
    while len(found) < count:
        case = one(seed)
        found += [case] if case else []
        seed += 1
    return found


if __name__ == "__main__":
    count, file = (int(sys.argv[1]), Path(sys.argv[2])) if len(sys.argv) > 1 else (300, HERE / "formulas.json")
    kinds = {"book": [case_of(n, label, *spec[:2], *(spec[2:] or [{}])) for n, (label, spec) in enumerate(CASES.items())],
             "texts": written_texts(), "random": many(random_case, count, 1000), "random_texts": many(random_text, count, 100000)}
    parts = []
    for kind, cases in kinds.items():
        lines = ",\n".join(json.dumps(c, ensure_ascii=False, separators=(",", ":")) for c in cases)
        parts.append(f'"{kind}": [\n{lines}\n]')
    file.write_text("{" + ",\n".join(parts) + "}\n")
