"""The course's tests: a snapshot of a right solution for each function, and the formula that it should be."""

import os
import pathlib

import torch
from adapters import run

from decoderscope.testing import same_tensor

SNAPSHOTS = pathlib.Path(os.environ.get("SNAPSHOTS", pathlib.Path(__file__).parent / "snapshots"))
SPLIT = "Σ_i x[b, p, i] · {0}[h · d_head + d, i]"
MULTIHEAD = """y[b, q, o] = Σ_i z[b, i div d_head, q, i mod d_head] · wo[o, i]
    where query[b, h: head, p, d: d_head] = {wq}; key[b, h: head, p, d: d_head] = {wk}; value[b, h: head, p, d: d_head] = {wv}
    ; scores[b, h, q, k] = Σ_d query[b, h, q, d] · key[b, h, k, d] / √d_head
    ; masked[b, h, q, k] = k ≤ q ? scores[b, h, q, k] : −∞
    ; z[b, h, q, d] = Σ_k softmax_k(masked[b, h, q, k]) · value[b, h, k, d]""".format(
    wq=SPLIT.format("wq"), wk=SPLIT.format("wk"), wv=SPLIT.format("wv"))
ROPE = "y[h, p, d] = x[h, p, d] · cos(phi[p, d]) + (d mod 2 = 0 ? −x[h, p, d + 1] : x[h, p, d − 1]) · sin(phi[p, d])"\
       " where phi[p, d] = p · theta^(−2 · (d div 2) / 8)"
HALVES = "y[h, p, d] = x[h, p, d] · cos(phi[p, d]) + (d < 4 ? −x[h, p, d + 4] : x[h, p, d − 4]) · sin(phi[p, d])"\
         " where phi[p, d] = p · theta^(−2 · (d mod 4) / 8)"


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def check(name, arguments, of, **operands):
    same_tensor(lambda: run(name, *arguments), SNAPSHOTS / f"{name}.npz", of=of, **operands)


def test_linear():
    x, weight = numbers(2, 5, 8), numbers(8, 8, seed=1)
    check("linear", (x, weight), "x @ weight.mT", x=x, weight=weight)


def test_embedding():
    table, tokens = numbers(11, 8), torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    check("embedding", (table, tokens), "y[b, p, d] = table[tokens[b, p], d]", table=table, tokens=tokens)


def test_rms_norm():
    x, weight = numbers(2, 5, 8) + 0.5, numbers(8, seed=1)
    check("rms_norm", (x, weight, 1e-5), "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight", x=x, weight=weight,
          eps=1e-5, mistakes={
              "It subtracts the mean, as LayerNorm does.":
              "(x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + eps) * weight"})


def test_silu():
    x = numbers(2, 5, 8)
    check("silu", (x,), "x * torch.sigmoid(x)", x=x)


def test_swiglu():
    x, w1, w2, w3 = numbers(2, 5, 8), numbers(12, 8, seed=1), numbers(8, 12, seed=2), numbers(12, 8, seed=3)
    check("swiglu", (x, w1, w2, w3), "(silu(x @ w1.mT) * (x @ w3.mT)) @ w2.mT", x=x, w1=w1, w2=w2, w3=w3)


def test_softmax():
    x = numbers(3, 5, 8)
    check("softmax", (x, -1), "softmax(x, -1)", x=x)


def test_attention():
    query, key, value = numbers(2, 2, 5, 8), numbers(2, 2, 5, 8, seed=1), numbers(2, 2, 5, 8, seed=2)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    check("attention", (query, key, value, mask),
          """z[b, h, q, d] = Σ_k softmax_k(masked[b, h, q, k]) · value[b, h, k, d]
             where scores[b, h, q, k] = Σ_d query[b, h, q, d] · key[b, h, k, d] / √d_head
             ; masked[b, h, q, k] = mask[q, k] ≠ 0 ? scores[b, h, q, k] : −1e9""",
          query=query, key=key, value=value, mask=mask, d_head=8, d_model=16)


def test_rope():
    x = numbers(2, 6, 8)
    check("rope", (x, 10000.0), ROPE, x=x, theta=10000.0,
          mistakes={"It turns halves of the columns, not pairs.": HALVES})


def test_multihead_self_attention():
    x, *weights = (numbers(*shape, seed=seed) for seed, shape in enumerate([(2, 5, 16)] + [(16, 16)] * 4))
    check("multihead_self_attention", (x, *weights, 2), MULTIHEAD, x=x,
          **dict(zip(("wq", "wk", "wv", "wo"), weights)), d_head=8, head=2, d_model=16)


def test_cross_entropy():
    logits, targets = numbers(2, 5, 11), torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    check("cross_entropy", (logits, targets),
          "loss = mean_b mean_p (log_sum_exp_v(logits[b, p, v]) − logits[b, p, targets[b, p]])", logits=logits, targets=targets)
