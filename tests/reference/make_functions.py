"""What PyTorch (or NumPy, where the text says np) makes of functions with odd arguments: functions.json, read by test_functions.cpp.

    python3 make_functions.py                       # writes functions.json: the cases of each kind that differ most from one another
    python3 make_functions.py SEED COUNT FILE       # so many others, for DECODERSCOPE_FUNCTIONS=FILE test_engine "functions on demand"

A case is [text, sizes, numbers]; [text] if PyTorch refuses it; [text, "outside"] if it refuses a place that only a tensor's numbers say.
Types aren't in the language, so what PyTorch refuses only for its type is left out, unless NumPy gives it a value.
"""
import json
import math
import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

HERE = Path(__file__).parent
INF, NAN = math.inf, math.nan
NORMAL = random.Random(7)


def numbers(count):
    return [round(NORMAL.gauss(0, 1) * 64) / 64 for _ in range(count)]


# name: axes, numbers, and "whole" or "condition" if they are only that. All are exact in float32.
SIZES = {"a": 2, "b": 3, "c": 4, "n": 0, "one": 1}
OPERANDS = {
    "x": ("a b c", numbers(24), ""),
    "y": ("b c", numbers(12), ""),
    "z": ("c", numbers(4), ""),
    "u": ("c a", numbers(8), ""),
    "v": ("a b c c", numbers(96), ""),
    "o": ("b c", [0.0, -0.0, INF, 1.5, -INF, 2.5, NAN, -0.5, 0.5, 3.0, -INF, 0.25], ""),
    "q": ("b c", [INF, -0.0, 0.5, 0.5, -INF, -INF, -INF, -INF, 1.5, 2.5, -2.5, 1.5], ""),
    "e": ("a n c", [], ""),
    "w": ("n", [], ""),
    "f": ("a one c", numbers(8), ""),
    "s": ("", numbers(1), ""),
    "i": ("b", [1, -2, 0], "whole"),
    "j": ("a b", [0, 2, 1, 2, 0, 0], "whole"),
    "t": ("a b", [1, -100, 0, 2, 1, -100], "whole"),
    "k": ("a b", [1, 0, 1, 1, 0, 0], "condition"),
    "g": ("b c", [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], "condition"),
}
REAL = "x x x y y z u v o o q q e w f s".split()


def attention(q, k, v, mask, is_causal, scale):
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask, -INF) if mask.dtype == torch.bool else scores + mask
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -INF)
    return scores.softmax(-1) @ v


class Einops:
    reduce = staticmethod(lambda x, pattern, how: {"a b c -> a c": lambda: x.mean(1)}[pattern]())
    repeat = staticmethod(lambda x, pattern, **sizes: {"b c -> b r c": lambda: x[:, None].expand(3, 2, 4), "c -> b r c": lambda: x.expand(3, 2, 4)}[pattern]())


class Stats:  # SciPy's
    @staticmethod
    def entropy(p, qk=None, axis=0):
        p = p / p.sum(axis, keepdims=True)
        return (p * np.log(p if qk is None else p / (qk / qk.sum(axis, keepdims=True)))).sum(axis) * (-1 if qk is None else 1)


def kl(p, q, dim=-1):
    return torch.where(p == 0, torch.zeros(()), p * (p / q).log()).sum(dim)


def pearson(x, y, dim=-1):
    x, y = (one - one.mean(dim, keepdim=True) for one in (x, y))
    return (x * y).sum(dim) / (x.norm(dim=dim) * y.norm(dim=dim))


# What is typed without a module, and PyTorch hasn't, or asks more for.
PLAIN = {
    "attention": lambda *given: F.scaled_dot_product_attention(*given), "softmax": lambda x, dim=-1: x.softmax(dim), "softmin": lambda x, dim=-1: F.softmin(x, dim), "log_softmax": lambda x, dim=-1: x.log_softmax(dim), "logsumexp": lambda x, dim=-1: x.logsumexp(dim),
    "entropy": lambda p, dim=-1: torch.special.entr(p).sum(dim), "kl": kl, "js": lambda p, q: (kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2, "tv": lambda p, q: (p - q).abs().sum(-1) / 2,
    "cosine": lambda x, y, dim=-1: F.cosine_similarity(x, y, dim), "pearson": pearson, "euclidean": lambda x, y: (x - y).norm(dim=-1), "project": lambda x, y: (x * y).sum(-1, True) / (y * y).sum(-1, True) * y,
    "mse": F.mse_loss, "rmse": lambda x, y: F.mse_loss(x, y).sqrt(), "mae": F.l1_loss, "ln": torch.log, "swish": F.silu, "logistic": torch.sigmoid, "perplexity": torch.exp, "surprisal": lambda p: -p.log(),
    "layernorm": lambda x, weight=None, bias=None: F.layer_norm(x, x.shape[-1:], weight, bias), "rmsnorm": lambda x: F.rms_norm(x, x.shape[-1:]), "count": lambda x: (x != 0).sum(),
    "effective_rank": lambda x: torch.special.entr(torch.linalg.svdvals(x) / torch.linalg.svdvals(x).sum()).sum().exp(), "spectral_norm": lambda x: torch.linalg.svdvals(x)[0],
    "accuracy": lambda x, t: ((x.argmax(-1) == t) & (t >= 0)).sum() / (t >= 0).sum(), "ce": lambda x, t: F.cross_entropy(x.movedim(-1, 1), t), "variance": torch.var, "stddev": torch.std, "avg": torch.mean, "ptp": lambda x: x.max() - x.min(), "percentile": lambda x, q: torch.quantile(x, q / 100),
    "cos": lambda x, *y: F.cosine_similarity(x, *y, -1) if y else x.cos(), "rms": lambda x: x.pow(2).mean(-1).sqrt(),
    "rank": lambda x, t: torch.where(t < 0, NAN, (x > x.gather(-1, t.clamp(min=0)[..., None])).sum(-1).double()),
    "margin": lambda x: x.topk(2)[0][..., 0] - x.topk(2)[0][..., 1], "radians": torch.deg2rad, "degrees": torch.rad2deg, "zscore": lambda x, dim=0: (x - x.mean(dim, True)) / x.std(dim, unbiased=False, keepdim=True),
}
for same, names in dict(kl="KL D_KL kl_divergence", entropy="H", js="JS D_JS jsd js_divergence", tv="total_variation", cosine="cos_sim cosine_sim similarity", pearson="pearsonr corr correlation", euclidean="distance", project="projection", perplexity="ppl", surprisal="information", softmax="prob probs probability probabilities", log_softmax="logprobs log_probs logprob", avg="average", stddev="standard_deviation", ln="loge", ce="nll").items():
    PLAIN.update((name, PLAIN[same]) for name in names.split())


# ours for PyTorch's words: what einops' patterns say
PATTERNS = {
    "a b c -> a c b": lambda x: x.permute(0, 2, 1),
    "a b c -> a (b c)": lambda x: x.reshape(x.shape[0], -1),
    "a b (d e) -> (d a) b e": lambda x: x.reshape(2, 3, 2, 2).permute(2, 0, 1, 3).reshape(4, 3, 2),
    "... c -> c ...": lambda x: x.movedim(-1, 0),
    "b c -> b 1 c": lambda x: x[:, None],
}


def rearrange(x, pattern, **sizes):
    x = torch.stack(x) if isinstance(x, list) else x
    if len([word for word in pattern.split("->")[0].replace("(d e)", "d").split() if word != "..."]) != x.dim() and "..." not in pattern:
        raise ValueError("the pattern has other axes")
    return PATTERNS[pattern](x)


def tensors():
    made = {}
    for name, (axes, values, kind) in OPERANDS.items():
        dtype = {"whole": torch.int64, "condition": torch.bool}.get(kind, torch.float64)
        made[name] = torch.tensor(values, dtype=dtype).reshape([SIZES[a] for a in axes.split()])
    return made


torch.set_default_dtype(torch.float64)
torch.Tensor.float = torch.Tensor.double
torch.nan_to_num = torch.Tensor.nan_to_num = lambda x, nan=0.0, posinf=2.0**128 - 2.0**104, neginf=2.0**104 - 2.0**128: torch.where(x != x, torch.tensor(float(nan)), torch.where(x == INF, torch.tensor(float(posinf)), torch.where(x == -INF, torch.tensor(float(neginf)), x)))  # the bounds of float32, in which rows are stored
F.scaled_dot_product_attention = lambda q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None: attention(q, k, v, attn_mask, is_causal, scale)  # newer than PyTorch 1.13
torch.Tensor.rms = lambda x, dim: x.pow(2).mean(dim).sqrt()
F.rms_norm = lambda x, shape, weight=1.0, eps=2.0**-23: x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight
TENSORS = tensors()
ARRAYS = {name: t.numpy() for name, t in TENSORS.items()}
NAMES = {"torch": torch, "F": F, "np": np, "math": math, "inf": INF, "einsum": torch.einsum, "arange": torch.arange, "rearrange": rearrange, "einops": Einops, "stats": Stats, "tr": torch.trace, "reduce": Einops.reduce, "repeat": Einops.repeat, **PLAIN, **SIZES}


# Each function that the random texts don't call.
ONCE = """
torch.rsqrt(q)
torch.bmm(x, x.mT)
torch.dot(z, z + 1)
(y > 0).float().sum()
torch.mm(y, u)
y.eq(q) + 0 * z
torch.ne(o, q)
torch.lt(o, q)
o.le(q)
torch.ge(o, 0.5)
o.greater_equal(q)
torch.neg(o)
torch.mul(y, q)
torch.pow(y, 2)
f.expand(2, 3, 4)
torch.log_softmax(q, 1)
torch.tril(y, -1) + y.triu(1)
np.expand_dims(y, 0)
torch.swapaxes(x, 0, -1)
np.concatenate((y, q), axis=1)
torch.concat((y, q), 1)
torch.broadcast_to(z, (3, 4))
np.broadcast_to(z, (2, 3, 4))
y.detach() * y.contiguous() + y.clone()
(y > 0).double().mean() + (o == inf).double().sum()
(y > 0).double() + (z > 0).double()
x[(t > 0).long()]
torch.fix(y * 3)
np.round(y, 1)
torch.true_divide(o, q)
np.subtract(y, z)
np.divide(y, z)
np.multiply(y, q)
np.negative(o)
np.power(y, 2)
np.minimum(o, q)
np.clip(o, -1, 1)
np.equal(o, q)
np.not_equal(o, q)
np.less_equal(o, q)
np.greater(o, q)
np.less(o, q)
np.transpose(x)
np.swapaxes(x, 0, 1)
np.squeeze(f, 1)
np.take_along_axis(y, i[:, None] % 3, 1)
torch.equal(y, y)
y.equal(q)
F.rms_norm(y, (4,))
F.rms_norm(o, (4,), z, 0.5)
x[-1, arange(3), arange(3)]
v[:, i, :, arange(3)]
v[0, :, i[:, None], arange(4)]
v[arange(2)[:, None], :, 1, j]
x[:, None, i][:, :, 0]
z[i - 1]
z[[0, 2]]
x.mean(1, 2)
x.sum(True)
torch.round(q)
q.norm(0)
y.std(1, correction=4)
1 // 0.1 + 0 * y
(y * 7) // 0.1
(y * 7) % 0.1
torch.floor(y * 64 * 49 / 49)
((y > 0) + (z > 0))
(z > 0) * q
(z > 0) / g
torch.where(z > 0, y, -inf).amax(-1)
torch.arange(0).sum()
torch.zeros(2, 0, 3).mean(1)
torch.zeros(2, 0, 3).amax(1)
torch.ones(2, 0).softmax(-1)
torch.zeros(0, 4) @ u
(e @ z).sum()
e.mean(1)
torch.cat((e.sum(1), z[None]), 0)
torch.all(k, 1)
torch.any(g, -1)
x.argsort(-1)
y.chunk(2, -1)[1]
q.count_nonzero(0)
torch.diagonal(v, 1, 2, 3)
torch.diff(y, 2)
torch.expm1(y * 1e-9) * 1e9
torch.eye(b, c) + y
y.flip((0, 1))
torch.full((2, b), 1.5)
torch.full_like(y, 2)
torch.ger(z, y[:, 0])
torch.hypot(o, q)
torch.isfinite(o)
torch.isinf(q)
torch.lerp(y, q, 0.25)
torch.log10(o)
torch.log1p(y * 1e-9) * 1e9
torch.logical_and(k, g[:2, :3])
torch.logical_not(q)
torch.logical_or(q, o)
F.logsigmoid(o)
torch.median(o, 1).values
np.median(y, axis=0)
torch.nanmean(o, 0)
torch.nansum(o)
F.normalize(y, dim=-1)
F.one_hot(j, 4)
torch.ones_like(y)
torch.outer(z, z + 1)
torch.quantile(y, 0.3, -1)
torch.roll(y, -2, 1)
torch.sgn(o)
torch.sign(o)
np.sign(o)
F.softplus(o * 30)
torch.sort(o, descending=True)[0]
x.sort().indices
torch.split(x, [1, 3], -1)[1]
torch.tan(y)
torch.topk(o, 2).values
torch.trace(y)
torch.zeros_like(y)
torch.kthvalue(o, 2).values
F.softmin(y, -1)
F.mse_loss(y, q * 0 + 1)
F.mse_loss(y, y * 2)
F.l1_loss(y, y * 2)
q.bool() | g
y[:, ::2] + y[:, 1::2]
x[:, 0:3:2]
torch.arange(1, 12, 3) * z
torch.cumsum(o, -1)
y.T @ y
torch.stack((y, q), -1)
x.flatten(1)
y.numel() * s
x.cumprod(-1)
torch.cummax(x, -1)[0] + torch.cummin(x, -1).values
np.cumprod(y, axis=0)
np.cumsum(y)
torch.prod(o, -1)
np.prod(x, axis=(0, 2))
torch.linalg.svdvals(x) + torch.linalg.svdvals(y)
torch.svd(u).S
np.linalg.svd(y, compute_uv=False)
torch.linalg.matrix_rank(x)
torch.linalg.cond(y)
torch.linalg.norm(x, 2, (0, 2), keepdim=True)
torch.linalg.norm(y, 'nuc')
torch.linalg.matrix_norm(x, -2)
torch.linalg.vector_norm(q, 3)
torch.cdist(y, x)
F.pairwise_distance(y, q[0])
torch.cov(y)
torch.corrcoef(y)
np.cov(y)
torch.einsum("...i,ji->...j", x, y)
torch.einsum("b...,...->b", y, z)
torch.einsum("abc,adc->abd", x, f)
F.cross_entropy(x.mT, t)
F.cross_entropy(x.mT, t, reduction="none", label_smoothing=0.1)
F.cross_entropy(y, y.softmax(-1))
F.nll_loss(x.mT.log_softmax(1), j, reduction="sum")
F.kl_div(y, y.exp(), reduction="batchmean")
F.huber_loss(y, q, delta=0.5, reduction="sum")
F.smooth_l1_loss(y, y * 3, beta=0.5)
F.binary_cross_entropy(torch.sigmoid(y), torch.sigmoid(y * 2))
F.binary_cross_entropy_with_logits(y, torch.sigmoid(y), reduction="none")
F.l1_loss(y, y * 2, reduction="none")
F.scaled_dot_product_attention(x, x, x * 2, is_causal=True)
F.scaled_dot_product_attention(x, x, x, y[:, :3] > 0)
F.scaled_dot_product_attention(x, x, x, attn_mask=y[:, :3], scale=0.5)
F.embedding(j, y)
F.pad(y, (1, -1, 0, 2), value=9.0)
F.glu(x, -1)
F.relu6(y * 9) + F.hardtanh(y) + F.hardsigmoid(y) + F.hardswish(y) + F.softsign(y) + F.selu(y) + F.celu(y, 2.0)
torch.nan_to_num(o) + torch.nan_to_num(q, 1.0, 2.0, 3.0)
torch.fmod(o, q) + torch.remainder(o, q)
torch.floor_divide(y, 0.3) + torch.div(y, 0.3, rounding_mode="trunc")
torch.fmax(o, q) + torch.fmin(o, q)
torch.clamp_min(o, 0) + torch.clamp_max(q, 0.5)
torch.absolute(o)
np.fabs(o)
torch.isclose(o, q)
torch.allclose(y, y + 1e-9)
torch.special.expit(y)
torch.sinh(y) + torch.cosh(y) + torch.erfc(y) + torch.logit(y)
torch.xlogy(q, o) + torch.logaddexp(o, q)
torch.special.entr(o)
torch.frac(o) + torch.heaviside(o, q) + torch.deg2rad(y) + torch.rad2deg(y)
torch.logical_xor(o, q)
np.nanmax(o, axis=0) + np.nanmin(o)
np.percentile(y, 30, axis=-1)
x.unflatten(-1, (2, -1))
x.movedim(0, -1) + torch.moveaxis(x, 0, -1)
x.mH + x.adjoint()
torch.swapdims(x, 0, 1)
np.transpose(x, (1, 0, 2))
rearrange(x, "a b (d e) -> (d a) b e", d=2)
x.ravel() + torch.flatten(x)
y.repeat(2, 1, 2)
np.tile(y, (2, 1))
np.repeat(y, 2, axis=0)
torch.hstack((y, q)) * 2
torch.vstack((z, z))
torch.unbind(x, 1)[2] + x.select(1, 0) + x.narrow(1, 1, 1)[:, 0]
torch.index_select(y, 1, arange(2))
torch.take(y, arange(5))
torch.masked_select(y, y > 0).sum()
torch.searchsorted(z.sort().values, y) + torch.bucketize(y, z.sort().values, right=True)
torch.fliplr(y) + torch.flipud(y)
np.flip(y, axis=0) + np.roll(y, 1, axis=0)
torch.roll(y, (1, 2), (0, 1)) + torch.roll(y, 5)
torch.diag(z) + torch.diag_embed(z)
torch.diag(y, 1)
y.nelement() * y.dim() * y.ndim * len(y) * s
z.expand_as(y) + y.view_as(q) + y.reshape_as(q)
np.identity(3) @ y
torch.linspace(0, 1, 5)
np.linspace(-1, 1)[:7]
torch.tensor([1, 2, 3, 4]) * z + torch.as_tensor([0.5, 1, 1, 2])
np.array([[1, 2], [3, 4]])
np.asarray([1, 2]) * 0.5
s.item() * 2 + y.cpu()[0, 0]
np.copy(y) + z
(np.abs(y) > 0.5).astype(float)
torch.exp2(y) + torch.reciprocal(y) + torch.sub(y, z)
o.gt(q)
F.linear(x, y, z[:3])
einops.reduce(x, "a b c -> a c", "mean")
y.cuda() if b > 5 else y.sum()
y.numpy() + 1
(y > 0).to(torch.float64).mean() + y.type(torch.float64)
(y > 0).astype(float) + y
y.sum(-1, dtype=torch.float64)
torch.zeros(3, dtype=torch.int64) + 1
(y > 0).sum() if b == 3 else s
y.sum() if s > 0 else y.mean()
y[[2, 0]] + y[:, [0, 1, 2, 3]][[0, 0]].sum()
y[::-1] + 0
F.layer_norm(y, y.shape[-1:])
x[x > 0].max() + x[x < 0].amin() + x[x > 0].numel()
x.squeeze() + f.squeeze().sum()
+y
max(y.max(), 3) + min(s, 0)
torch.addmm(y @ y.T, y, y.T) + torch.mv(y, z) + torch.inner(y, z)
torch.baddbmm(x @ x.mT, x, x.mT)
np.dot(y, u) + np.vdot(z, z)
torch.cosine_similarity(x, x.flip(-1), dim=-1)
np.size(y) * z
np.ndim(y) * z
torch.atan(o)
np.arctan(y)
torch.arctan(y) + torch.asin(y / 4) + torch.arcsin(q / 9) + torch.asin(o)
torch.acos(y / 4) + torch.arccos(q / 9) + torch.acos(o)
torch.atan2(o, q)
torch.atan2(q, o)
np.arctan2(y, q)
torch.asinh(o) + torch.arcsinh(y * 1e-9)
torch.acosh(o) + torch.arccosh(y.abs() + 1)
torch.atanh(o / 3) + torch.arctanh(y * 1e-9)
torch.sinc(y)
np.sinc(q)
torch.float_power(y, 2) + torch.positive(y) + y.data
torch.copysign(o, q)
torch.copysign(y, torch.tensor(-0.0))
torch.signbit(o)
torch.addcmul(y, z, z, value=0.5) + torch.addcdiv(y, z, z)
F.tanhshrink(o) + F.hardshrink(o, 1)
F.softshrink(q, lambd=1.5) + F.hardshrink(q)
F.threshold(y, 0.5, 20) + F.rrelu(y) + F.prelu(y, torch.tensor([0.25]))
F.dropout(y, 0.1, training=False) + F.dropout(y, p=0.0)
torch.logaddexp2(o, q)
z.tolist()
(y > 0).type_as(y) + (y > 0).to(y.dtype) + (y > 0).to(q.device).float()
torch.std_mean(x, -1)[0] + torch.std_mean(x, dim=-1)[1]
torch.var_mean(x, dim=(0, 1), unbiased=False)[0] + torch.var_mean(x, 1, keepdim=True)[1]
torch.aminmax(y).max - torch.aminmax(y).min + torch.aminmax(y, dim=1)[1]
torch.mode(j, -1).values
torch.mode(y * 0, 0, True)[0]
torch.logcumsumexp(o, -1)
torch.logcumsumexp(x, 1)
torch.trapz(y) + torch.trapezoid(q, dx=0.5)
torch.cumulative_trapezoid(x, dim=1)
torch.histc(y, bins=4, min=-2, max=2)
torch.histc(y, bins=5)
np.histogram(y, bins=4)[0]
torch.unique(j).numel() + len(torch.unique(t)) + torch.unique(y * 0).sum()
j.unique().shape[0] * z
torch.bincount(j.flatten(), minlength=4)
np.bincount(j.flatten(), weights=x[..., 0].flatten(), minlength=3)
torch.isin(j, torch.tensor([1, 2]))
np.isin(t, [1, -100])
torch.linalg.det(v) + v.det()
torch.det(y)
torch.logdet(y @ y.T)
torch.slogdet(v).logabsdet + torch.linalg.slogdet(v)[0]
torch.slogdet(v).sign
torch.linalg.inv(v)[0] + torch.inverse(v[0])
np.linalg.inv(v[0, 1])
torch.inverse(u)
torch.linalg.inv(torch.ones(3, 3))
torch.linalg.inv(o @ o.T)
torch.linalg.pinv(y) + torch.pinverse(u.T @ y.T).sum()
torch.linalg.pinv(torch.ones(3, 4))
torch.linalg.solve(v, v[..., :2])
torch.linalg.eigvals(v).real.sum(-1) / torch.linalg.eigvals(v).abs().sum(-1)
torch.linalg.eigvals(v).imag.sum(-1)
np.linalg.eigvals(v).real.sum()
torch.linalg.eigvalsh(y @ y.T)
torch.linalg.eigvalsh(v)
torch.linalg.eigh(y.T @ y).eigenvalues + torch.linalg.eigh(v)[0]
torch.linalg.lstsq(y.T, z[:, None]).solution
torch.matrix_power(v, 3)[0]
(torch.linalg.matrix_power(v, 0) + v.matrix_power(1) + v.matrix_power(-2))[1]
torch.matrix_power(y, 2)
torch.linalg.multi_dot([y, u, u.T]) + torch.chain_matmul(y, u, u.T)
torch.kron(y[:2, :2], u)
torch.dist(y, q / 9) + torch.dist(y, y * 2, p=1)
torch.addmv(z[:3], y, z) + torch.addr(y @ y.T, z[:3], z[1:]).sum(-1)
torch.addmm(y @ y.T, y, y.T, beta=0.5, alpha=2)
torch.tensordot(x, u, dims=([2], [0]))
torch.tensordot(x, y, dims=2)
np.tensordot(x, u, axes=1)
torch.tensordot(x, y, dims=1)
np.tensordot(x, y, axes=([1, 2], [0, 1]))
einops.reduce(x, 'a b c -> a c', 'mean') + reduce(x, 'a b c -> a c', 'mean')
einops.repeat(y, 'b c -> b r c', r=2) + repeat(z, 'c -> b r c', r=2, b=3)
torch.einsum("a b c, b c -> a b", x, y)
torch.column_stack((z, z)) + torch.column_stack((y.T[:, :1], y.T[:, 1:2]))
torch.tensor_split(y, 3, dim=-1)[0]
torch.tensor_split(y, (1, 3), dim=1)[1]
np.array_split(y, 3, axis=1)[2]
np.split(y, 2, axis=1)[1]
np.split(y, [1, 3], axis=1)[2]
np.split(y, 3, axis=1)[2]
np.searchsorted([-1.0, 0.0, 1.5], q)
np.searchsorted([-1.0, 0.0, 1.5], q, side="right")
np.digitize(q, [-1.0, 0.0, 1.5])
torch.zeros(2, 3, 4).scatter(-1, j[..., None], 1.0)
x.scatter(2, j[..., None].expand(2, 3, 2), x * 2)
x.scatter(2, (j[..., None] * 0).expand(2, 3, 4), x * 2)[..., 1:]
x.scatter_(1, j[:, :1, None], y[None, :1, :1].expand(2, 1, 1))
x.scatter(1, j[:, :, None], -inf)
x.scatter(1, j[:, :, None] + 5, 1.0)
x.scatter_add(2, j[..., None].expand(2, 3, 4), x)
torch.zeros(3).scatter_add_(0, j[0], z[:3])
x.index_add(1, i % 3, x * 2)
x.index_add_(0, j[1, 1:], x * 2, alpha=0.5)
tr(y[:, :3]) + y
y.index_fill(0, i % 3, 7) + y.index_fill_(1, torch.tensor([0, 3]), -1)
y.index_copy(0, torch.tensor([2, 0]), q[:2])
y.unfold(1, 3, 1) + y.unfold(-1, 3, 1)
x.unfold(1, 2, 1).mean(-1)
torch.logspace(0, 1, 4) * z
y[range(2), 0] + len(range(3))
torch.atleast_1d(s) + torch.atleast_2d(z) + torch.atleast_2d(y)
torch.meshgrid(z, y[0], indexing="ij")[1]
np.meshgrid(z, y[:, 0])[0]
torch.gradient(z)[0]
np.gradient(z)
torch.cross(y[:, :3], q[:, :3] / 9, dim=1)
torch.linalg.cross(y.T, u[:, :1].expand(4, 3))
np.cross(y[:, :3], q[0, 1:])
torch.fft.fft(y).real + torch.fft.fft(y).imag
torch.fft.rfft(y, dim=0).abs() ** 2
np.abs(np.fft.fft(y, axis=0)).sum(-1)
torch.linalg.eig(v)[0].abs().sum(-1)
np.take(y, i, axis=0) + np.take(y, [0, 1, 2, 3])
np.around(y, 1) + np.tril(y, k=-1) + np.triu(y)
np.average(y) + np.average(y, axis=0, weights=np.ones((3, 4))) + np.ptp(y) + np.ptp(y, axis=0)
y[:, :3].clone().fill_diagonal_(7)
torch.nn.Softmax(dim=-1)(y) + torch.nn.LayerNorm(4)(y) + torch.nn.GELU()(y)
torch.nn.CrossEntropyLoss()(x.flatten(0, 1), j.flatten())
y[0] == y[1]
sorted(z)
sorted(z, reverse=True)
(y > 0) ^ (z > 0)
round(0.34, 1) + y
y.view(*y.shape[:1], 2, 2)
torch.where(y < 0, -float("Inf"), y)
~torch.tril(torch.ones(3, 4, dtype=torch.bool))
torch.ones(3, 4, device=y.device) + y
torch.topk(x, 2, largest=False).values
torch.topk(x, 2, -1, True, True)[0]
torch.quantile(y, torch.tensor([0.25, 0.5]), dim=-1)
np.percentile(y, [25, 75])
x[k].mean(0) - x[~k].sum(0)
x[k].norm(dim=-1).mean() + x[k].softmax(-1).amax(-1).sum()
y[g].std() + y[g].var(unbiased=False) + y[g].norm()
x[k].std(0)
x[:, g].mean(1)
(x > 0)[k].any(0)
(x > -9)[k].all() + x[k].count_nonzero(0)
x[k].amax(-1).min()
np.mod(y, 0.3) + 1
y[(0, 1)] + y[(0,)] + y[[0, 1]].sum()
x[:, [[0], [2]], [1, 3]]
y[:, ::-2] + y[:, 3:0:-2]
y[::-1, 1::-1]
y[0:5:-1] + 0
i ^ 1
sum(y)
sum([y, q])
torch.stack([x[:, h].sum() * h for h in range(3)])
sum([row * row for row in y]) + torch.stack([sum([a * b for a in z]) for b in z])
sum(x[:, h] / 2 for h in (0, 2, 1)) + torch.stack([y[h] if h > 1 else 2 * y[h] for h in range(1, 3)])
torch.Tensor([1, 2, 3, 4]) * z + torch.FloatTensor([1, 2, 3, 4]) + torch.LongTensor([1, 0, 1, 0])
sum((y > 0, q > 0))
sum(z)
(y > 0) + (z > 0) + (q > 0)
x.transpose(1, 0, 2) + x.transpose((1, 0, 2))
x.transpose(0, 1, 2, 0)
(y * 9).round(1) + np.rint(y * 9)
np.clip(y, a_min=-0.5, a_max=0.5) + np.roll(y, shift=1, axis=0)
np.diagonal(v, axis1=2, axis2=-1) + np.trace(v, offset=1, axis1=2, axis2=3)[..., None]
np.repeat([1, 2], 2) * np.cumsum([1, 2, 3, 4]) + np.mean([1, 2])
torch.permute(x, dims=(1, 0, 2))
np.zeros(shape=(3, 4)) + y
np.full(shape=(2, 3), fill_value=7)
y.clone().clamp_(-0.5, 0.5).mul_(2)
torch.quantile(y, 0.3, dim=1, interpolation="lower") + torch.quantile(y, 0.3, 1, interpolation="higher")
torch.quantile(y, 0.5, 1, interpolation="nearest") + torch.quantile(y, 0.3, interpolation="midpoint", dim=1)
np.quantile(y, 0.25, axis=0, method="lower")
torch.quantile(y, 0.3, interpolation="best")
y.sort(dim=-1, descending=True, stable=True)[0] + torch.argsort(y, stable=True)
torch.einsum("bc,bc->b", [y, q[:, :] * 0 + 2])
torch.bitwise_and(y > 0, z > 0) + torch.bitwise_or(y > 0, z > 0) + torch.bitwise_xor(y > 0, z > 0)
np.invert(y > 0) | (y > 0)
torch.bitwise_not(y > 0)
torch.bitwise_and(j, 1)
np.abs(y).std(axis=-1) + np.sqrt(y.var(axis=1, keepdims=True))[:, 0]
np.log(y.std(-1))
np.vdot(y, q * 0 + 1)
y.astype('int') + np.abs(y).astype("float32")
y.astype('int5')
y.dot(u) + y[:, :3].dot(y[:, 1:]).sum()
y.cumsum() * y.repeat(4, axis=0).trace() + np.ptp(y)
y.ptp(axis=-1) + v.trace(axis1=2, axis2=3).sum() + y.take([0, 2, 1], axis=0)[:, 0]
x.max(axis=(0, 2)) + x.min(axis=0).max(axis=1)
np.array_equal(y, y)
np.einsum("bc,bc->b", y, y, optimize=True)
np.in1d(j[0], [1, 2])
math.e * z + torch.nan_to_num(torch.tensor(float("nan")))
(i & 1) + (i | 4) * (i ^ 3) - (~i << 2) + torch.bitwise_right_shift(i, 1)
k & (j > 0) | (j & 1 == 0)
(i ^ 1) + (j & 2)[0]
np.add.reduce(x, axis=1) + np.maximum.accumulate(y, axis=1).max(axis=0)
np.logical_or.reduce(y > 0, axis=-1) + np.subtract.outer(y[0], z[:3])
np.average(v, axis=2, weights=z) + np.sort(y, axis=None)[:4]
np.corrcoef(z, y[0]) + np.pad(z[:1], (1, 0))
np.pad(y, ((1, 0), (0, 2)), constant_values=2)
np.average(y, axis=0, weights=[1, 2, 3]) * np.shape(z)[0]
i % 2 ^ 1
np.append(y, q, axis=1)[:, :4] + np.nanargmax(o, axis=0) + np.nanargmin(o, axis=0)
np.ediff1d(z) + np.right_shift(j, 1)[0] + np.int32(i)
torch.bitwise_left_shift(i, 2)
np.left_shift(j, 1)
torch.rot90(y) + y.rms(0)[:, None]
torch.linalg.vector_norm(y, None)
torch.linalg.vector_norm(y, 2, None)
np.append(y, q)
np.append(z, 1.5)
np.append(y, [[1], [2], [3]], axis=1)
np.delete(y, 1, axis=0) + np.delete(y, -1, 0)
np.sum(y, axis=-1, where=g) + np.abs(y).mean(axis=1, where=y > -9)
np.sum(x, where=x > 0, initial=2.0) + np.prod(y, axis=0, initial=0.5)
np.max(y, axis=0, where=g, initial=0.5) + np.min(y, axis=0, initial=-1.5)
np.max(y, axis=0, where=g)
np.mean(y, axis=1, initial=2.0)
np.prod(y, axis=1, where=g, keepdims=True) + np.mean(y, where=g, keepdims=True)
np.any(y > 0, axis=1, where=g) + np.all(y > 0, axis=1, where=g)
np.std(y, axis=1, where=y > -9) + np.var(x, axis=(0, 2), where=y > -9, ddof=1)
np.nanmedian(o) + np.nanmedian(np.where(g, y, np.nan), axis=1)
torch.nanmedian(o) + torch.nanmedian(o, 1)[0]
np.nanquantile(np.where(g, y, np.nan), 0.3, axis=1) + np.nanpercentile(np.where(g, y, np.nan), 30)
np.nanstd(o[:, 3]) + np.nanvar(np.where(g, y, np.nan), axis=0) + np.nanprod(o) + np.nancumsum(np.where(g, y, np.nan), axis=0)
torch.unique(j, return_counts=True)[1].max() + j.unique(return_inverse=True)[1]
np.unique(j, return_inverse=True, return_counts=True)[2].max()
torch.linalg.vecdot(x, y)
torch.addbmm(y @ y.T, x, x.mT, beta=0.5)
torch.nn.Flatten()(x) + torch.nn.Identity()(x).flatten(1)
torch.distributions.Categorical(probs=y.softmax(-1) * 2).entropy()
torch.distributions.Categorical(logits=x).log_prob(j) + torch.distributions.Categorical(logits=x).logits[..., 0] + torch.distributions.Categorical(logits=x).probs[..., 0]
np.interp(y, [-1, 0, 1], [0, 2, 1])
stats.entropy(np.exp(y)) + stats.entropy(np.exp(y), np.exp(q * 0 + z), axis=0)
np.abs(1 - k) + (1 - k)
x[Ellipsis, 0]
torch.stack([x[:, h] for h in range(b) if h != 1]) + torch.stack([x[h, i] for h in range(2) for i in range(h, 2)])[:2, None]
torch.stack([h * p + r for h, p in enumerate(y) for r in (z, z + 1)])
sum(n * p.sum() for n, p in enumerate(y)) + sum([p @ r for p, r in zip(y, q * 0 + z)]) + len(y.shape) + y.softmax(-1).logit(eps=0.3)
torch.arange(4.0) * z + y[:, 0:None]
np.partition(y, 2)[..., 2] + np.partition(y, -2, axis=-1)[:, -2:].sum(-1) + np.partition(z, 1)[:1].max()
np.argpartition(y, 1)[:, 1]
np.sum(a=y, axis=-1) + np.take(y, indices=[1], axis=1)[:, 0] + np.split(y, indices_or_sections=2, axis=1)[0][:, 0]
np.linspace(0, 1, num=4) + np.arange(0, 8, step=2) + np.arange(4, dtype=float) + np.argsort(z, kind='stable')
torch.arange(start=1, end=9, step=2) + torch.arange(end=4) + max(y.shape) + min([1, 2]) + math.prod(y.shape)
any([b == 3, b == 4]) + z.sum() * all([b == 3, c == 4]) + torch.tensor(list(y.shape)).sum() + len(tuple(y.shape))
rearrange([z, z + 1], "b c -> b 1 c")
((y.softmax(-1).sort(descending=True)[0].cumsum(-1) < 0.5).sum(-1) + y.argsort(-1).argsort(-1).sum(-1))
softmax(x) + softmin(x) + softmax(x, 1) + log_softmax(x) - logsumexp(x)[..., None]
entropy(softmax(x)) + entropy(x.softmax(1), dim=1)[:, :1] + H(y.tril() * 0) * 0
kl(softmax(x), softmax(y)[:2, None]) + KL(probs(x), prob(x + 1)) + D_KL(softmax(x), softmax(x)) - kl_divergence(softmax(x) * (x > 0), softmax(x))
js(softmax(y), softmax(q * 0 + z)) + jsd(y.abs(), y.abs() + 1) + js_divergence(probabilities(y), probability(y * 2)) + JS(y.abs(), q * 0 + z.abs()) + D_JS(z.abs(), y.abs()) + tv(y, y * 2) + total_variation(y, z)
cosine(y, q * 0 + z) + cos_sim(x, y)[0] + cosine_sim(y, y + 1) + similarity(y, z + 1)
pearson(y, y ** 2) + pearsonr(y, z) + corr(y, z + y) + correlation(y, -y)
distance(y, z) + euclidean(y, y + 1) + project(y, z).sum(-1) + projection(y, y + z).sum(-1)
mse(y, z + 0 * y) + rmse(y, y + 2) + mae(y, y - 3)
ln(y) + loge(y * 2) + swish(y) + logistic(y) + surprisal(y) + information(y)
perplexity(y) + ppl(z) + logprobs(y) + log_probs(y) + logprob(y)
layernorm(x) + rmsnorm(x) + layernorm(x, z, z + 1)
count(y > 0) + count(y) + effective_rank(y) + spectral_norm(y) + accuracy(x, t) + accuracy(y, i % 4) + ce(x, t) + nll(y, i % 4)
attention(x, x + 1, x)
variance(y) + stddev(y, 0).sum() + avg(x, 1).sum() + average(y) + standard_deviation(y) + ptp(y) + percentile(y, 30)
rank(x, t) + rms(x) - x.rms(-1)
cos(x, y) + cos(x[0], z) + cos(z).sum()
np.tri(3, 4) * y - np.tri(3, c, 1) + np.tri(4)[:3]
torch.block_diag(y, x[0]) + torch.block_diag(y[:1], z[:, None])[0, 0]
torch.distributions.kl_divergence(torch.distributions.Categorical(x.softmax(-1)), torch.distributions.Categorical(logits=y))
margin(x) + radians(x.sum(-1)) + degrees(x.mean(-1)) + zscore(x).sum(-1) + zscore(y, dim=1)[0, 0]
y[np.ix_([0, 2], [1, 3])]
x[np.ix_([0, 1], [2, 0], [1, 3])] + np.array(x)[np.ix_(np.array([1]), np.array([0]), np.array([1, 3]))]
"""

# The functions and reductions of index notation, of each of these tensors.
BOOK = """
atan(T[b, c]) + acos(T[b, c] / 4)  T.atan() + (T / 4).acos()
2T[b, c] z[c] + ½ |T[b, c]|  2 * T * z + T.abs() / 2
⌊T[b, c]⌋ + ⌈T[b, c]⌉  T.floor() + T.ceil()
T[b, c] if T[b, c] > 0.5 else z[c]  torch.where(T > 0.5, T, z)
e^(T[b, c] / 8) + log |T[b, c]|  (T / 8).exp() + T.abs().log()
Σ_{d ≤ c} T[b, d] · z[d]  torch.where(torch.ones(4, 4).tril() > 0, (T * z)[:, None], torch.tensor(0.0)).sum(-1)
Σ_{d != c} z[d] + 0 * T[b, c]  z.sum() - z + 0 * T
max_{d < c + 1} T[b, d] + 0 z[c]  T.cummax(-1)[0] + 0 * z
∏_d T[b, d] + 1/2 Σ_{d} [d > c] z[d] T[b, d]  T.prod(-1, keepdim=True) + torch.where(torch.ones(4, 4).triu(1) > 0, (T * z)[:, None], torch.tensor(0.0)).sum(-1) / 2
mean_{d < c} T[b, d] + 0 · z[c]  torch.where(torch.ones(4, 4).tril(-1) > 0, T[:, None], torch.tensor(0.0)).sum(-1) / torch.arange(4) + 0 * z
Σ_{d: |d − c| ≤ 1} T[b, d]  torch.where((torch.arange(4)[:, None] - torch.arange(4)).abs() < 2, T[:, None], torch.tensor(0.0)).sum(-1)
Σ_{d, d ≠ c} z[d] + 0 * T[b, c]  z.sum() - z + 0 * T
#{d : T[b, d] > 0.5} + 0 z[c]  (T > 0.5).sum(-1, keepdim=True) + 0 * z
T[b, c] + δ_{b, c} z[c] - δ_bc  T + torch.eye(3, 4) * (z - 1)
⟨T[b, :], z[:]⟩ + 0 z[c]  (T * z).sum(-1, keepdim=True) + 0 * z
T[b, :] · z[:] / 2 + 0 z[c]  (T * z).sum(-1, keepdim=True) / 2 + 0 * z
T[b, c] / 2z[c]  None
T[b, c] ÷ 2 – 1 ⋅ z[c]  T / 2 - z
Σ_{d=1}^{2} T[b, d] + 0 · z[c]  T[:, 1:3].sum(-1, keepdim=True) + 0 * z
Σ_{d = 0}^c T[b, d] · z[d]  (T * z).cumsum(-1)
Σ_d 1[T[b, d] > 0.5] + 0 z[c]  (T > 0.5).sum(-1, keepdim=True) + 0 * z
1/2 (T[b, c] + z[c]) ⊙ z[c]  (T + z) / 2 * z
relu(T[b, c])  F.relu(T)
relu2(T[b, c])  F.relu(T) ** 2
silu(T[b, c])  F.silu(T)
gelu(T[b, c])  F.gelu(T)
gelu_tanh(T[b, c])  F.gelu(T, approximate="tanh")
mish(T[b, c])  F.mish(T)
sign(T[b, c]) + log2(T[b, c])  torch.sign(T) + torch.log2(T)
|T[b, c]| · 2(T[b, c] + 1)  T.abs() * 2 * (T + 1)
softplus(T[b, c]) + leaky_relu(T[b, c], 0.2)  F.softplus(T) + F.leaky_relu(T, 0.2)
isnan(T[b, c]) + nan_to_num(T[b, c], 1, 2, 3)  torch.isnan(T) + torch.nan_to_num(T, 1, 2, 3)
Π_d T[b, d] + 0 · z[c]  T.prod(-1, keepdim=True) + 0 * z
topk(T[b, c], 2)  None
tanh2(T[b, c])  torch.tanh(T) ** 2
cap(T[b, c], 1.5)  1.5 * torch.tanh(T / 1.5)
clamp(T[b, c], 0.5)  T.clamp(-0.5, 0.5)
softmax_c(T[b, c])  T.softmax(-1)
variance_d(T[b, d]) + 0 * z[c]  T.var(-1, unbiased=False, keepdim=True) + 0 * z
rms_d(T[b, d], 0.1) + 0 * z[c]  (T.pow(2).mean(-1, keepdim=True) + 0.1).sqrt() + 0 * z
exp(T[b, c]) + log(T[b, c])  T.exp() + T.log()
sin(T[b, c]) − cos(T[b, c])  T.sin() - T.cos()
tanh(T[b, c]) · erf(T[b, c])  T.tanh() * T.erf()
σ(T[b, c])  torch.sigmoid(T)
abs(T[b, c]) − floor(T[b, c])  T.abs() - T.floor()
round(3 · T[b, c])  torch.round(3 * T)
stop(T[b, c]) + stored(T[b, c])  T + T
min(T[b, c], z[c])  torch.minimum(T, z)
max(T[b, c], z[c])  torch.maximum(T, z)
T[b, c] div 0.3  T // 0.3
T[b, c] mod 0.3  T % 0.3
T[b, c] mod −0.25  T % -0.25
√(T[b, c]) + T[b, c]^3 + T[b, c]²  T.sqrt() + T ** 3 + T ** 2
T[b, c] > 0.5 ? T[b, c] : z[c]  torch.where(T > 0.5, T, z)
[T[b, c] ≥ 0 and not T[b, c] = 1.5 or T[b, c] < −1]  (((T >= 0) & ~(T == 1.5)) | (T < -1)).double()
Σ_d T[b, d] + 0 · z[c]  T.sum(-1, keepdim=True) + 0 * z
mean_d T[b, d] + 0 · z[c]  T.mean(-1, keepdim=True) + 0 * z
max_d T[b, d] + 0 · z[c]  T.amax(-1, keepdim=True) + 0 * z
min_d T[b, d] + 0 · z[c]  T.amin(-1, keepdim=True) + 0 * z
argmax_d T[b, d] + 0 · z[c]  T.argmax(-1, keepdim=True) + 0 * z
count_d (T[b, d] > 0) + 0 · z[c]  (T > 0).sum(-1, keepdim=True) + 0 * z
T[b, 0] + z[c]  T[:, :1] + z
T[b, −1] + z[c]  T[:, -1:] + z
T[b, −5] + z[c]  None
T[b, 4] + z[c]  None
median_d(T[b, d]) + 0 · z[c]  T.median(-1, keepdim=True)[0] + 0 * z
log_softmax_c(T[b, c]) + any_d (T[b, d] > 1)  T.log_softmax(-1) + (T > 1).any(-1, keepdim=True)
cumsum_c(T[b, c]) − sort_c(z[c])  T.cumsum(-1) - z.sort(-1)[0]
Σ_d cumsum_d(z[d]) T[b, d] + 0 · z[c]  (z.cumsum(-1) * T).sum(-1, keepdim=True) + 0 * z
argmax_d(T[b, d]) / 2 + var_d(z[d]) · 2 + 0 z[c]  T.argmax(-1, keepdim=True) / 2 + z.var() * 2 + 0 * z
mean_d(T[b, d])² + mean_d (T[b, d])² + 0 z[c]  T.mean(-1, keepdim=True) ** 2 + (T ** 2).mean(-1, keepdim=True) + 0 * z
argmax_d T[b, d] / 2 + 0 · z[c]  None
argmax_{d, e} T[d, e] + 0 · T[b, c]  None
T[b, c] / (2 + z[c]) (3)  None
median_{d, e} T[d, e] + 0 · T[b, c]  T.median() + 0 * T
softmax_c T[b, c] · z[c]  None
((T[b, c] > 0) & ~(z[c] > 0)) | (T[b, c] < −1)  ((T > 0) & ~(z > 0)) | (T < -1)
(i[b] & 3) (T[b, c] + 1) + ~i[b]  (i & 3)[:, None] * (T + 1) + (~i)[:, None]
‖T[b, d]‖²_d + tanh²(z[c])  T.pow(2).sum(-1, keepdim=True) + z.tanh() ** 2
T[b, c] [z[c] > 0] + clamp(T[b, c], −1, 0.5)  torch.where(z > 0, T, torch.tensor(0.0)) + T.clamp(-1, 0.5)
Σ_{d ≤ c} T[b, d]  torch.where(torch.ones(4, 4).tril() > 0, T[:, None], torch.tensor(0.0)).sum(-1)
T[b, c / 2]  None
T[b, [z[c] > 0]]  None
T[[z[c] > 0], c] + 0 · T[b, c]  None
T[b, 0.5] + z[c]  None
T[b, c] |z[c] − 1| + e^{T[b, c] / 8}  T * (z - 1).abs() + (T / 8).exp()
log_2(T[b, c]) + log_10(z[c])  T.log2() + z.log10()
"""


class Outside(Exception):
    pass


def evaluated(text):
    """The value; None if it is refused."""
    uses_numpy = "np." in text
    for operands in (ARRAYS,) if uses_numpy else (TENSORS, ARRAYS):
        try:
            value = eval(text, {**NAMES, **{name: given.copy() if operands is ARRAYS else given.clone() for name, given in operands.items()}})  # some work in place
        except Exception as error:
            message = str(error)
            if re.search(r"(var|std)\(.*(correction|keepdim|ddof)", text) and "invalid combination" in message:
                raise TypeError("newer versions need no axis") from error
            if re.search(r"index -?\d+ is out of bounds|out of bounds for axis|index out of range in self|INDICES element is out|Target -?\d+ is out of bounds", message) and re.search(r"\b([ijt]|argmax|argmin|tensor)\b", text):
                raise Outside() from error
            if re.search(r"non-finite value|should be between 0 and 1|input.numel\(\) == 0|no elements|SVD did not converge|ingular", message) and "0" not in str(getattr(error, "shape", "")) and re.search(r"svd|norm|cond|rank|inv|cross_entropy|>|<|k\]|g\]", text):
                raise Outside() from error
            if operands is ARRAYS and isinstance(error, AttributeError) and re.search(r"\.(round|dot|ptp|trace|take|cumsum|cumprod)\(", text):
                raise TypeError("NumPy's method of what only PyTorch's makes") from error
            if uses_numpy and "unexpected keyword" in message:
                raise TypeError("another name") from error
            if operands is not ARRAYS and is_about_type(message):
                raise TypeError("a type") from error
            continue
        if isinstance(value, list):
            value = torch.tensor([float(number) for number in value])
        if not isinstance(value, (torch.Tensor, np.ndarray, np.generic, float, int)):
            raise TypeError("no tensor")
        value = torch.as_tensor(np.array(value) if isinstance(value, (np.ndarray, np.generic)) else value)
        return value.to(torch.float64)
    return None


def is_about_type(message):
    words = ("dtype", "Bool", "bool tensor", "Long", "scalar type", "floating point", "integral", "ooleans", "Float", "Double", "expected condition",
             "mask", "ambiguous", "has no attribute", "view size is not compatible", "unexpected keyword argument", "argument 'other'", "ZeroDivision", "not subscriptable", "must be tuple of SymInts", "Expected at most 2", "negative integer powers", "argmax_cpu", "not implemented for", "Negation", "`-` operator", "bitwise", "bad operand type", "unsupported operand", "must be Tensor")
    return any(word in message for word in words)


# ---- random texts

class Writer:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def of(self, *choices):
        return self.r.choice(choices)

    def dim(self):
        return self.of("0", "1", "-1", "-1", "-1", "-2", "2", "0", "1", "3", "-4", "5")

    def dims(self):
        return self.of("(0, 1)", "(-1, -2)", "[1, 2]", "(0,)", "(0, 1, 2)", "(1, -2)", "(0, 0)", "(-1, 2)", "[]", "(0, 5)")

    def yes(self):
        return self.of("True", "True", "False")

    def number(self):
        return self.of("0", "1", "2", "-1", "0.5", "-0.0", "inf", "-inf", "3", "1.5", "2.5")

    def tensor(self, depth=0):
        name = self.r.choice(REAL)
        if depth == 0 or self.r.random() < 0.5:
            return name
        t = self.tensor(depth - 1)
        return self.of(lambda: f"{t}.unsqueeze({self.dim()})", lambda: f"({t} * {self.number()})", lambda: f"{t}[{self.index()}]",
                       lambda: f"({t} + {self.tensor()})", lambda: f"{t}.mT", lambda: f"{t}.exp()", lambda: f"(-{t})", lambda: f"{t}.transpose({self.dim()}, {self.dim()})")()

    def condition(self):
        return self.of("k", "g", "k", f"({self.of('x', 'y', 'z', 'o', 'q', 's')} {self.of('>', '<=', '!=', '==', '>=')} {self.of('0', '0.5', 'z', 'inf')})",
                       "(t >= 0)", "(t >= 0)", "~k", "~g", "(k & (t >= 0))", "(g | (y > 0))", "(i > 0)", "(z > 0)", "(j == 2)")

    def whole(self):
        return self.of("i", "j", "arange(3)", "arange(2)", "arange(b)", "(j - 1)", "j[0]", "i[1:]", "j[1, 2]", "(i + 1)", "arange(2)[:, None]", "t[0]", "i[None]",
                       "x.argmax(-1)", "y.argmax(-1)", "arange(4)", "z.argmin(0)", "(j // 2)", "-i", "(2 * j - 2)", "(j % 2)", "t", "j.long()")

    def one_index(self):
        return self.of(":", ":", "...", "None", "0", "1", "-1", "-2", "1:", ":2", "1:3", "-2:", ":-1", "::2", "1::2", ":3:2", "::3", "-3::2", "::1", "::-1", "::0", "5:", "2:1", "3", "-5", self.whole(), self.whole(), self.whole(),
                       self.condition() if self.r.random() < 0.4 else ":", "y" if self.r.random() < 0.1 else "0", "True" if self.r.random() < 0.1 else ":")

    def index(self):
        return ", ".join(self.one_index() for _ in range(self.of(1, 1, 2, 2, 3, 3, 4)))

    def reduction_arguments(self, first=""):
        """As positions or by their names."""
        given = [first] if first else []
        way = self.r.randrange(9)
        if way == 0:
            pass
        elif way < 3:
            given.append(self.dim())
        elif way == 3:
            given.append(self.dims())
        elif way == 4:
            given += [self.dim(), self.of("True", "False", "1", "2", "0", "keepdim=True", "keepdims=True")]
        elif way == 5:
            given.append(f"{self.of('dim', 'dim', 'axis')}={self.dims()}")
        elif way == 6:
            given += [f"{self.of('dim', 'axis')}={self.dim()}", f"{self.of('keepdim', 'keepdims')}={self.yes()}"]
        elif way == 7:
            given += [self.dim(), f"keepdim={self.yes()}"]
        else:
            given.append(self.of("None", "keepdim=True", "dim=None", "1, 2", "0, 1", "1.0", "True", "axis=None", "0, 1, 2", "-1, True, True"))
        return ", ".join(given)

    def called(self, name, given, t=None, free=True):
        t = t or self.tensor(1)
        if free and self.r.random() < 0.5:
            return f"torch.{name}({t}{', ' if given else ''}{given})"
        return f"{t}.{name}({given})"

    def reduction(self):
        name = self.of("sum", "mean", "amax", "amin", "argmax", "argmin", "logsumexp", "max", "min", "sum", "mean")
        t = self.condition() if self.r.random() < 0.05 else None
        text = self.called(name, self.reduction_arguments(), t)
        return text + (self.of(".values", "[0]", "[1]", ".indices") if name in ("max", "min") and self.r.random() < 0.8 else "")

    def spread(self):
        given = self.reduction_arguments()
        if self.r.random() < 0.6:
            given += (", " if given else "") + self.of("correction=0", "correction=1", "correction=2", "correction=3", "correction=4", "correction=7", "unbiased=False", "unbiased=True", "False", "True", "2", "ddof=1")
        return self.called(self.of("var", "std"), given)

    def norm(self):
        p = self.of("", "inf", "-inf", "0", "1", "2", "3", "0.5", "-1", "'fro'", "'nuc'", "float('inf')", "math.inf", "-2")
        way = self.r.randrange(3)
        if way == 0:
            return self.called("norm", self.reduction_arguments(p))
        if way == 1:
            return self.called("norm", ", ".join(filter(None, [f"p={p}" if p else "", f"dim={self.of(self.dim(), self.dims())}", self.of("", "keepdim=True")])))
        return f"{self.of('torch.linalg.norm', 'torch.linalg.vector_norm', 'np.linalg.norm')}({self.r.choice(REAL)}{', ' + p if p else ''}{self.of('', ', dim=-1', ', axis=-1', ', axis=(0, 1)')})"

    def rounding(self):
        t = self.of(self.tensor(1), "(y * 2)", "(q * 3)", "(o + 0.5)", "(x / 0.03)")
        return self.of(f"torch.round({t})", f"{t}.round()", f"{t}.round(decimals={self.of('0', '1', '2', '-1', '3')})", f"torch.round({t}, decimals={self.of('1', '-1', '2')})",
                       f"np.round({self.r.choice(REAL)}, {self.of('0', '1', '-1')})", f"torch.floor({t})", f"{t}.floor()", f"{t}.ceil()", f"{t}.trunc()", f"torch.round({t}, 2)", "(x * 3).int()", "(-y / 0.3).long()")

    def elementwise(self):
        name = self.of("exp", "log", "sin", "cos", "tanh", "erf", "sigmoid", "abs", "floor", "sqrt", "rsqrt", "square", "reciprocal", "neg", "negative", "relu", "sign", "exp2", "log2", "isnan")
        t = self.tensor(1)
        return self.of(f"torch.{name}({t})", f"{t}.{name}()", f"torch.{name}({t}, 1)", f"F.{self.of('relu', 'silu', 'gelu', 'mish', 'leaky_relu', 'softplus', 'elu')}({t})",
                       f"F.gelu({t}, approximate={self.of(chr(39) + 'tanh' + chr(39), chr(39) + 'none' + chr(39))})", f"F.leaky_relu({t}, {self.number()})",
                       f"F.leaky_relu({t}, negative_slope={self.number()})")

    def two(self):
        a, b = self.tensor(1), self.of(self.tensor(1), self.number())
        name = self.of("add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "max", "min", "true_divide", "subtract", "multiply", "equal", "not_equal", "less", "greater_equal", "add", "fmod", "remainder", "dot", "equal", "allclose")
        operator = self.of("+", "-", "*", "/", "**", "//", "%", "<", ">", "<=", ">=", "==", "!=", "@")
        c, d = self.condition(), self.condition()
        return self.of(f"torch.{name}({a}, {b})", f"{a}.{name}({b})", f"({a} {operator} {b})", f"({b} {operator} {a})", f"({c} {self.of('+', '*', '-', '&', '|', '==', '/')} {d})", f"({c} {operator} {a})",
                       f"torch.add({a}, {b}, alpha=2)", f"torch.sub({a}, {b}, alpha={self.number()})", f"torch.div({a}, {b}, rounding_mode='floor')", f"(-{c})", f"(~{a})", f"({a} & {b})")

    def choosing(self):
        c, a, b = self.condition(), self.of(self.tensor(), self.number()), self.of(self.tensor(), self.number())
        return self.of(f"torch.where({c}, {a}, {b})", f"{self.tensor()}.masked_fill({c}, {self.of(self.number(), '-inf', 's', 'z')})", f"{self.tensor(1)}.clamp({self.number()}, {self.number()})",
                       f"torch.clamp({self.tensor(1)}, min={self.number()})", f"{self.tensor()}.clamp(max={self.of(self.number(), 'z')})", f"{self.tensor()}.clip({self.number()})", f"{self.tensor()}.clamp()",
                       f"torch.where({c})", f"{self.tensor()}.clamp(min={self.number()}, max={self.number()})", f"{self.tensor()}.where({c}, {a})")

    def matrices(self):
        """Products along an axis, singular values, norms of matrices, distances."""
        t, d = self.tensor(1), self.of(self.dim(), f"dim={self.dim()}", "-1")
        p = self.of("'fro'", "'nuc'", "2", "-2", "1", "-1", "inf", "-inf", "3", "0", "None", "float('inf')")
        return self.of(f"torch.prod({t}{self.of('', ', 0', ', -1', ', dim=1', ', 1, True', ', dim=(0, 1)', ', 5')})", f"{t}.prod({self.of('', '0', '-1', 'dim=-1, keepdim=True', 'None', '(0, 1)')})", f"np.prod({self.of('x', 'y', 'o', 'q', 'z')}{self.of('', ', axis=0', ', axis=(0, 1)', ', axis=-1, keepdims=True', ', 7')})",
                       f"torch.cumprod({t}, {d})", f"{t}.cumprod({self.of(d, '')})", f"torch.{self.of('cummax', 'cummin')}({t}, {d}){self.of('.values', '[0]')}", f"np.{self.of('cumsum', 'cumprod')}({self.of('x', 'y', 'o')}{self.of('', ', axis=0', ', axis=-1', ', 5')})",
                       f"torch.linalg.svdvals({t})", f"torch.svd({self.of('x', 'y', 'u', 'v', 'f')}){self.of('[1]', '.S')}", f"torch.linalg.svd({self.of('x', 'y', 'z', 'v')})[1]", f"np.linalg.svd({self.of('x', 'y', 'v')}, compute_uv={self.of('False', 'True')})",
                       f"torch.linalg.norm({t}{self.of('', f', {p}', f', {p}, (0, 1)', f', {p}, dim=(-1, -2)', f', ord={p}', f', {p}, -1', ', dim=(0, 1)', ', dim=1, keepdim=True', f', {p}, (0, 1), True', f', {p}, (0, 0)')})",
                       f"torch.linalg.matrix_norm({self.of('x', 'y', 'v', 'z', 's', 'f')}{self.of('', f', {p}', f', {p}, (0, 1)', f', {p}, (1, -1), True')})", f"torch.linalg.vector_norm({t}{self.of('', f', {p}', f', {p}, -1', ', dim=(0, 1), keepdim=True')})", f"np.linalg.norm({self.of('x', 'y', 'z', 'o')}{self.of('', f', {p}', f', ord={p}, axis=0', f', {p}, axis=(0, 1)', ', axis=-1, keepdims=True')})",
                       f"torch.cdist({self.of('x', 'y', 'y', 'f', 'z')}, {self.of('x', 'y', 'y[:2]', 'u.T', 'u')}{self.of('', ', p=1', ', 2.0', ', inf', ', p=3')})", f"F.pairwise_distance({t}, {self.tensor()}{self.of('', ', p=1', ', keepdim=True', ', 2, 0')})",
                       f"torch.{self.of('cov', 'corrcoef')}({self.of('y', 'q', 'z', 'u', 'x', 's', 'o', 'y.T')})", f"np.{self.of('cov', 'corrcoef')}({self.of('y', 'z', 'u')})", f"torch.linalg.{self.of('matrix_rank', 'cond')}({self.of('x', 'y', 'u', 'z', 'v', 'y @ y.T')})")

    def losses(self):
        r = self.of("", "", ", reduction='mean'", ", reduction='sum'", ", reduction='none'", ", reduction='batchmean'", ", reduction='x'", ", reduction=None")
        a, b = self.of(("x", "y"), ("y", "q"), ("y", "z"), ("x", "x * 2"), ("o", "y"), ("y", "u"), ("z", "s"), ("y", "y.exp()"), ("x", "x.softmax(-1)"), ("e", "e"))
        logits, target = self.of(("x.mT", "t"), ("x.mT", "j"), ("x", "j"), ("y", "y.softmax(-1)"), ("y.T", "i"), ("y.T", "z"), ("x.mT", "t"), ("o[:2]", "j[:, 0]"), ("y", "torch.tensor([0, 3, 1])"), ("z", "torch.tensor(2)"), ("x[0]", "torch.tensor([1, -100, 2])"), ("x", "x.softmax(1)"), ("s", "j"), ("y", "torch.tensor([0, 1])"), ("v.movedim(-1, 1)", "torch.zeros(2, 3, 4, dtype=torch.int64)"))
        more = self.of("", "", ", ignore_index=0", ", label_smoothing=0.1", ", ignore_index=2, label_smoothing=0.5")
        return self.of(f"F.{self.of('mse_loss', 'l1_loss', 'smooth_l1_loss', 'huber_loss')}({a}, {b}{r})", f"F.smooth_l1_loss({a}, {b}{r}, beta={self.of('0.5', '2', '1')})", f"F.huber_loss({a}, {b}, delta={self.of('0.5', '2')})", f"F.kl_div({a}, {b}{r}{self.of('', ', log_target=True', ', log_target=False')})",
                       f"F.cross_entropy({logits}, {target}{r}{more})", f"F.cross_entropy({logits}, {target}{r}{more})", f"F.nll_loss({logits}, {target}{r}{self.of('', ', ignore_index=0')})", f"F.binary_cross_entropy_with_logits({a}, torch.sigmoid({b}){r})", f"F.binary_cross_entropy(torch.sigmoid({a}), torch.sigmoid({b}){r})",
                       f"F.scaled_dot_product_attention({self.of('x', 'y', 'v')}, {self.of('x', 'y', 'v')}, {self.of('x', 'v', 'y')}{self.of('', ', is_causal=True', ', attn_mask=y[:, :3]', ', scale=2.0', ', (y[:, :3] > 0)')})")

    def more(self):
        t, d = self.tensor(1), self.dim()
        rule = self.of("...c,c", "...c,c->...", "...->...", "a...->...a", "...ij,...jk->...ik", "...bc,...bc->...", "b...,c...->bc...", "...,...->...", "i...i->...", "...c->c", "ab,...->...ab", "a...c->ac", "......")
        return self.of(f"torch.einsum('{rule}', {', '.join(self.r.choice(['x', 'y', 'z', 'u', 'v', 'f', 'x.mT', 's']) for _ in range(rule.split('->')[0].count(',') + 1))})", f"torch.nan_to_num({self.of('o', 'q', t)}{self.of('', ', 1', ', nan=2.0, posinf=3.0', ', 0, 1, 2', ', neginf=0.0')})",
                       f"torch.{self.of('fmod', 'remainder', 'fmax', 'fmin', 'xlogy', 'logaddexp', 'isclose', 'logical_xor', 'heaviside', 'floor_divide')}({self.of('o', 'q', t)}, {self.of('q', 'o', 'y', 's')})", f"torch.{self.of('sinh', 'cosh', 'erfc', 'logit', 'frac', 'deg2rad', 'absolute', 'clamp_min', 'special.entr')}({self.of('o', 'q', t)})", f"{t}.{self.of('clamp_min', 'clamp_max')}({self.of('0', 'z', '-inf', '0.5')})",
                       f"F.{self.of('relu6', 'hardtanh', 'hardsigmoid', 'hardswish', 'softsign', 'selu', 'celu')}({self.of('o', '(q * 3)', t)})", f"F.glu({t}{self.of('', f', {d}', ', -1')})", f"torch.div({t}, {self.of('0.3', 'o', 'y', 'q')}, rounding_mode={self.of(chr(39) + 'floor' + chr(39), chr(39) + 'trunc' + chr(39), 'None', chr(39) + 'x' + chr(39))})",
                       f"{t}.unflatten({d}, {self.of('(2, 2)', '(2, -1)', '(1, -1)', '(3,)', '(2, 3)', '(-1, -1)', '()')})", f"torch.{self.of('movedim', 'moveaxis')}({t}, {d}, {self.dim()})", f"np.transpose({self.of('x', 'y', 'v')}{self.of('', ', (1, 0)', ', (2, 0, 1)', ', (0, 0)')})", f"{t}.repeat({self.of('2', '1, 2', '2, 1, 2', '(2, 1)', '0, 2', '1, 1, 1, 2', '-1, 1, 1')})",
                       f"torch.tile({t}, ({self.of('2,', '1, 2', '2, 1, 1', '0,')}))", f"np.tile({self.of('x', 'y')}, {self.of('2', '(2, 1)', '(1, 2, 1)')})", f"np.repeat({self.of('x', 'y')}, {self.of('2', '3')}{self.of('', ', axis=0', ', axis=-1', ', axis=4')})", f"{t}.repeat_interleave(2)", f"{t}.squeeze()",
                       f"torch.{self.of('hstack', 'vstack')}({self.of('(y, q)', '(z, z)', '(x, x)', '[y, z]', '(s, s)')})", f"torch.unbind({t}, {d})[{self.of('0', '-1', '2')}]", f"{t}.narrow({d}, {self.of('0', '1', '-1', '2')}, {self.of('1', '2', '0', '5')})", f"{t}.select({d}, {self.of('0', '-1', '2', '5')})", f"torch.index_select({t}, {d}, {self.of('arange(2)', 'i', 'j[0]', 'j', 'torch.tensor([0, 0, 1])', 'torch.tensor(1)')})",
                       f"F.embedding({self.of('j', 'i', 'arange(3)', 'k', 'torch.tensor([2, 0])')}, {self.of('y', 'u', 'z', 'x')})", f"F.pad({t}, ({self.of('1, 0', '0, 2', '1, 1, 0, 1', '-1, 0', '-1, 2, 1, -1', '1', '0, 0, 0, 0, 1, 1', '-5, 0')}){self.of('', ', value=2.0', ', ' + chr(39) + 'constant' + chr(39) + ', 1.5', ', ' + chr(39) + 'reflect' + chr(39))})",
                       f"torch.flip({t}, {self.of('(0, 1)', '[0]')})", f"{t}.flip({self.of('0, 1', '-1', '0, 0')})", f"np.flip({self.of('x', 'y')}{self.of('', ', 0', ', axis=-1', ', axis=(0, 1)')})", f"torch.roll({t}, {self.of('1', '(1, 2)', '-3', '(1,)')}{self.of('', ', (0, 1)', ', 0', ', (0, -1)')})", f"np.roll({self.of('x', 'y')}, {self.of('1', '-2', '(1, 2)')}{self.of('', ', axis=0', ', axis=(0, 1)')})", f"torch.diag({self.of('y', 'z', 'u', 'x', 's', '(y @ y.T)')}{self.of('', ', 1', ', -1')})", f"torch.diag_embed({t})", f"torch.{self.of('fliplr', 'flipud')}({t})",
                       f"torch.searchsorted({self.of('z.sort().values', 'y.sort().values', 'torch.tensor([0.0, 0.5])')}, {self.of('y', 'z', 'o', 'q')}{self.of('', ', right=True', ', right=False')})", f"torch.bucketize({self.of('y', 'o', 's')}, {self.of('z.sort().values', 'torch.tensor([-1.0, 0.0, 1.5])')}{self.of('', ', right=True')})", f"torch.linspace({self.of('0, 1, 5', '-1, 2, 4', '0, 1, 1', '3, 0, 4', '0, 1, 0')}) * {self.of('2', 's')}", f"torch.arange({self.of('0, 1, 0.25', '0.5, 3', '3, 0, -0.5', '0, 1, 0.3', '1, 0, 0.5')}) * 2",
                       f"torch.tensor({self.of('[1, 2, 3, 4]', '[[1, 2], [3, 4]]', '[0.5]', '[[1, 2], [3]]', '1.5', '[[1.0, 2, 3, 4]]')}) * {self.of('z', 's', 'y', '2')}", f"{self.of('x', 'y', 'v')}[{self.of('[0, 1]', ':, [0, 2]', '[0, -1]', '[1], [0]', '[0, 1], [1, 0]', '..., [0, 0]', '[5]', '[[0, 1], [1, 0]]')}]", f"{t}[::-1]", f"F.layer_norm({t}, {t}.shape[{self.of('-1:', '1:', ':1', '-2:')}])", f"torch.equal({self.of('y', 'q', 'x')}, {self.of('y', 'x', 'q')})",
                       f"{t}.{self.of('expand_as', 'view_as', 'reshape_as')}({self.tensor()})", f"({t} if {self.of('b > 2', 'c == 3', 'len(x) == 2', 'y.ndim == 3')} else {self.tensor()})", f"({t}.sum() if {self.of('s > 0', 'y.sum() < 0', 'y > 0')} else {t}.mean())", f"{t}.{self.of('sum', 'mean', 'prod')}(dtype=torch.float64)", f"{self.condition()}.{self.of('float', 'double', 'long')}().mean()", f"{t}.to(torch.float64)", f"+{t}", f"{t}.ndim * s", f"len({t}) * s", f"{t}[0, 0].item()", f"np.percentile({self.of('x', 'y', 'o')}, {self.of('50', '0', '100', '12.5')}{self.of('', ', axis=0', ', axis=-1')})", f"np.{self.of('nanmax', 'nanmin')}({self.of('o', 'x', 'q')}{self.of('', ', axis=0', ', axis=-1, keepdims=True')})",
                       f"rearrange({self.of('x', 'x', 'y', 'v')}, '{self.of('a b c -> a c b', 'a b c -> a (b c)', '... c -> c ...', 'b c -> b 1 c')}')", f"torch.linalg.{self.of('norm', 'svdvals')}({t}.softmax(-1))", f"{self.of('x[x > 0]', 'y[g]', 'x[x > 9]', 'o[g]', 'x[k]')}.{self.of('max', 'min', 'amax', 'numel', 'amin')}()")

    def along(self):
        t, d = self.tensor(1), self.of(self.dim(), f"dim={self.dim()}", f"axis={self.dim()}", "", "-1", "dim=(0, 1)", "dim=None")
        name = self.of("softmax", "log_softmax", "softmax", "logsumexp", "cumsum", "softmin")
        size = self.of("4", "(4,)", "[4]", "(3, 4)", "c", "(c,)", "3", "(0,)", "()", "4.0")
        return self.of(f"{t}.{name}({d})", f"torch.{name}({t}, {d})", f"F.{name}({t}, {d})", f"F.layer_norm({t}, {size if size[0] in '([' else f'({size},)'})", f"F.layer_norm({t}, {size})",
                       f"F.layer_norm({t}, (4,), z, z, {self.of('1e-5', '0.0', '1.0')})", f"F.layer_norm({t}, (4,), weight=z, eps=0.5)", f"F.layer_norm({t}, (4,), {self.of('y', 's', 'None', 'z[:2]')})",
                       f"F.cosine_similarity({t}, {self.tensor()}, {self.dim()})", f"F.cosine_similarity({t}, {self.tensor()}{self.of('', ', dim=-1', ', dim=0', ', eps=0.5')})")

    def shaping(self):
        t, d, e = self.tensor(1), self.dim(), self.dim()
        sizes = self.of("2, -1", "-1", "24", "4, 3, 2", "(4, 6)", "-1, 0", "0", "0, -1", "2, 2, -1", "-1, -1", "[3, 8]", "2, 0, 4", "6, 4", "()", "1, 12", "-1, 1", "4, 2, 1", "-2, 3", "12, 1, 1", "2, 3, 4", "0, 4", "a, -1", "1", "c, b, 1")
        return self.of(f"{t}.{self.of('view', 'reshape')}({sizes})", f"torch.reshape({t}, {sizes if sizes[0] in '([' else f'({sizes})'})", f"{t}.transpose({d}, {e})", f"{t}.permute({self.of('1, 0', '2, 0, 1', '(0, 2, 1)', '-1, 0, 1', '0', '0, 0, 1', '0, 1, 2, 3', '-1, -2')})",
                       f"{t}.unsqueeze({d})", f"{t}.squeeze({self.of(d, '1', '')})", f"{t}.{self.of('mT', 'T')}", f"{t}.t()", f"torch.cat(({t}, {self.tensor()}), {self.of(d, f'dim={d}')})", f"torch.cat([{t}, {t}, {t}])",
                       f"{t}.expand({self.of('2, 3, 4', '-1, 4', '5, -1', '2, -1, -1, -1', '3', '(2, 3, 4)', '0, 4', '4, 4', '-1, 5, -1')})", f"{t}.repeat_interleave({self.of('2', '0', '3', '-1')}, {self.of(d, f'dim={d}')})",
                       f"{self.of('torch.ones', 'torch.zeros')}({self.of('2, 3', '(2, 0)', '0', '2, -1', '()', 'b, c', '(4,)')}) {self.of('*', '+')} {self.tensor()}", f"torch.{self.of('tril', 'triu')}({t}{self.of('', ', 1', ', -1', ', diagonal=2', ', diagonal=-5')})",
                       f"torch.arange({self.of('4', 'c', '0', '-1', '2.5', '1, 5', '0, 8, 2', '4, 0, -1', '1, 8, 2', '5, 1', '3, 3', '0, 4, 0')}) * {self.of('z', 's', '2')}", f"{t}.size({self.of(d, '0', '')})", f"{t}.shape[{self.of(d, '0', '-1')}] * s", f"{t}.flatten({self.of('', '1', '0, 1', '-2', '1, 0')})",
                       f"torch.stack(({t}, {t}), {self.of(d, '0')})", f"torch.cat(({t}, {self.tensor()}, 5), 0)", f"{t}.swapaxes({d}, {e})", f"torch.transpose({t}, dim0={d}, dim1={e})", f"{t}.expand_as({self.tensor()})", f"{t}.numel() * s", f"torch.cat((e, x), 1)", f"torch.cat((w, z))", f"torch.cat((x, e.transpose(1, 2)), {d})")

    def products(self):
        a, b = self.tensor(1), self.tensor(1)
        return self.of(f"({a} @ {b})", f"torch.{self.of('matmul', 'mm', 'bmm', 'dot', 'mv', 'inner', 'outer')}({a}, {b})", f"F.linear({a}, {self.of('y', 'z', 'u.mT', 'x')}{self.of('', ', z', ', s', ', z[:3]', ', y[:, 0]', ', None')})",
                       f"np.dot({self.of('x', 'y', 'z', 's')}, {self.of('u', 'z', 'y.T', 'x')})", f"np.matmul({self.of('x', 'y', 'z')}, {self.of('u', 'z')})",
                       f"torch.einsum({self.of(*[chr(34) + r + chr(34) for r in ('abc,bc->ab', 'abc,c', 'bc,bc->', 'bc->c', 'ij,jk->ik', 'ij,ij', 'abc,ca->b', 'ii', 'ii->i', 'abcc->abc', 'abcd->dcba', '...c,c', '...c,c->...', 'ab,c->abc', 'abc->ab', 'bc,bc->d', 'bc->bb', 'c,c->', 'bc,c->b', 'anc->ac', 'anc,n->ac', 'n->', 'BC,bC->Bb')])}, {', '.join(self.r.choice(['x', 'y', 'z', 'u', 'v', 'e', 'w', 'o']) for _ in range(self.of(1, 1, 2, 2)))})")

    def ordering(self):
        """Rows in order. Which of equal numbers comes first is said of stable sorts alone."""
        t, d = self.of("x", "y", "z", "o", "q", "u", "(x * y)", "v[0]", "e", "f", "s"), self.of(self.dim(), f"dim={self.dim()}", "-1", "", "dim=-1")
        down, k = self.of("", "descending=True", "descending=False"), self.of("1", "2", "3", "0", "4", "5", "-1")
        return self.of(f"torch.sort({', '.join(filter(None, [t, d, down]))}){self.of('.values', '[0]', '')}", f"{t}.sort({', '.join(filter(None, [d, down]))}){self.of('.values', '[0]')}",
                       f"x.argsort({', '.join(filter(None, [d, down]))})", f"torch.argsort(z{', ' + d if d else ''})", f"torch.sort(x, {d or '-1'})[1]", f"torch.topk({t}, {k}{', ' + d if d else ''}){self.of('.values', '[0]')}",
                       f"np.sort({self.of('x', 'y', 'o', 'q')}{self.of('', ', axis=0', ', axis=-1', ', axis=5')})", f"np.argsort({self.of('x', 'y', 'z')}{self.of('', ', axis=0', ', axis=-1')})",
                       f"torch.quantile({self.of('x', 'y', 'o', 'z', 'q')}, {self.of('0.5', '0.25', '0', '1', '0.3')}{self.of('', ', -1', ', dim=0', ', 1, True', ', dim=-1, keepdim=True')})", f"torch.cumsum({t}, {d or '0'})", f"torch.median({self.of('x', 'y', 'o', 'z', 'q', 's')}{self.of('', ', 0', ', -1', ', dim=1', ', -1, True', ', 5')}){self.of('', '.values', '[0]')}", f"torch.kthvalue({self.of('x', 'y', 'z', 'o')}, {self.of('1', '2', '3', '0', '9')}{self.of('', ', 0', ', -1', ', 1, True')}){self.of('.values', '[0]')}", f"F.softmin({t}, {d or '-1'})", f"F.{self.of('mse_loss', 'l1_loss')}({self.of('x', 'y', 'q')}, {self.of('x', 'y', 'y * 2')})", f"np.median({self.of('x', 'y', 'o')}{self.of('', ', axis=0', ', axis=-1')})", f"{t}.cumsum({d or '-1'})",
                       f"torch.diff({t}{self.of('', ', 1', ', 2', ', dim=0', ', dim=-1', ', n=0', ', 1, 1', ', n=5')})", f"torch.flip({t}, {self.of('(0,)', '(0, 1)', '[-1]', '(1, 1)', '(5,)')})", f"{t}.flip({self.of('0', '-1', '(0, 1)')})",
                       f"torch.roll({t}, {self.of('1', '-1', '2', '7', '0', '-9')}, {self.dim()})", f"np.roll(y, {self.of('1', '-2')}, axis={self.of('0', '1')})", f"torch.diagonal({t}{self.of('', ', 1', ', -1', ', offset=1, dim1=-2, dim2=-1', ', 0, 0, -1', ', 0, 1, 1', ', 7')})",
                       f"torch.trace({self.of('y', 'u', 'z', 'x', 'o')})", f"{t}.chunk({self.of('2', '3', '1', '0', '9')}, {self.dim()})[{self.of('0', '1', '-1')}]", f"torch.split({t}, {self.of('1', '2', '[1, 2]', '[2, 2]', '(1, 3)', '0')}, {self.dim()})[{self.of('0', '1', '-1')}]")

    def filling(self):
        t = self.tensor(1)
        return self.of(f"torch.eye({self.of('3', '2, 4', 'c', 'b, c', '0')}) {self.of('+', '*')} {self.of('2', 's')}", f"torch.full({self.of('(2, 3)', '[3]', '(0,)', '(b, c)')}, {self.number()})", f"torch.{self.of('zeros_like', 'ones_like')}({t})",
                       f"torch.full_like({t}, {self.number()})", f"F.one_hot({self.of('j', 'i % 3', 'arange(3)', 'arange(4)[:2]')}, {self.of('3', '4', 'c')})", f"torch.outer({self.of('z', 'y[0]', 'z + 1', 'y')}, {self.of('z', 'y[:, 0]', 'x')})", f"{t}.numel() * s",
                       f"torch.stack({self.of('(y, q)', '[z, z, z]', '(y, z)', '(x, x)')}, {self.dim()})", f"{t}.flatten({self.of('', '0', '1', '-2', '0, 1', '1, 0', 'start_dim=1')})",
                       f"F.normalize({self.of('x', 'y', 'q', 'v')}{self.of('', ', dim=-1', ', p=1, dim=0', ', 2, -1', ', p=inf, dim=-1', ', p=3.0, dim=1', ', eps=0.5')})", f"torch.{self.of('any', 'all')}({self.of('k', 'g', '(y > 0)', '(o == o)')}{self.of('', ', 0', ', dim=-1', ', 1, True')})",
                       f"torch.count_nonzero({self.of('q', 'o', 'k', 'j', 'e')}{self.of('', ', 0', ', dim=-1', ', dim=(0, 1)')})", f"torch.{self.of('nansum', 'nanmean')}({self.of('o', 'x', 'q', 'e')}{self.of('', ', 0', ', -1, True', ', dim=(0, 1)')})",
                       f"torch.{self.of('log1p', 'expm1', 'log10', 'tan', 'sign', 'isinf', 'isfinite', 'isnan', 'exp2', 'log2')}({self.of(t, '(y * 1e-9)', 'o', '(q * 0.5)')})", f"F.{self.of('softplus', 'elu', 'logsigmoid')}({self.of(t, '(y * 30)', 'o')})", f"F.softplus({t}, {self.number()}, {self.number()})", f"F.elu({t}, {self.number()})",
                       f"torch.hypot({t}, {self.tensor()})", f"torch.lerp({t}, {self.tensor()}, {self.of('0', '1', '0.5', '2', '0.25')})", f"torch.logical_{self.of('and', 'or')}({self.of('k', 'g', 'q', 'o')}, {self.of('k', 'g', 'q', 'z')})", f"torch.logical_not({self.of('k', 'q', 'o')})", f"np.{self.of('sign', 'log1p', 'isnan', 'hypot')}(o{self.of('', ', q')})")

    def gathering(self):
        t = self.tensor()
        where = self.of("j[..., None]", "j", "i[:, None]", "j.unsqueeze(-1)", "t[..., None]", "i", "x.argmax(-1, keepdim=True)", "(j > 0)[..., None]", "y.argmax(1, keepdim=True)", "j[:, :2, None]", "arange(4)", "i[:, None] + 1", "j[:, :, None].expand(2, 3, 4)")
        d = self.dim()
        return self.of(f"torch.gather({t}, {d}, {where})", f"{t}.gather({d}, {where})", f"torch.take_along_dim({t}, {where}, {d})", f"{t}.gather(dim={d}, index={where})",
                       f"np.take_along_axis(y, {self.of('i[:, None]', 'np.argmax(y, axis=1)[:, None]')}, {d})", f"torch.index_select({t}, {d}, {self.of('i', 'arange(2)')})")

    def indexing(self):
        return f"{self.of('x', 'x', 'y', 'z', 'v', 'v', 'e', 'o', 'f', 's', 'i', 'x.softmax(1)', '(x * y)', 'x.mT')}[{self.index()}]"

    def chosen(self):
        """A condition as an index, and what becomes of what it chooses."""
        t, c = self.of(("x", "k"), ("y", "g"), ("o", "g"), ("q", "g"), ("x", "(x > 0)"), ("y", "(y < 0)"), ("x", "(t >= 0)"), ("x", "~k"), ("y", "(y > 9)"), ("x[..., 0]", "k"), ("x.sum(-1)", "(t >= 0)"),
                      ("y", "(y.sum(-1) > 0)"), ("z", "(z > 0)"), ("x", "(z > 0)"), ("x", "(x.sum(-1) > 0)"), ("v", "(v == v.amax(-1, keepdim=True))"), ("s", "(s > 0)"), ("j", "k"))
        index = self.of(c, c, c, c, c, f"{c}, 0", f":, {self.of('(z > 0)', 'g')}", f"..., {self.of('(z > 0)', 'g')}", f"{c}, ...", f"{c}[0]")
        between = self.of("", "", "", ".exp()", ".abs()", " * 2", " ** 2", ".sqrt()", ".softmax(0)", " + z", "[0]", ".unsqueeze(0)", f" - {t}[{c}].mean()", ".mT", ".tanh().square()")
        chosen = f"({t}[{index}]{between})"
        return self.of(f"{chosen}.mean()", f"{chosen}.sum()", f"{chosen}.{self.of('mean', 'sum')}({self.of('0', '-1', 'dim=0', '1', 'None', 'keepdim=True')})", f"{chosen}.{self.of('max', 'min', 'amax', 'amin', 'std', 'var', 'norm', 'argmax', 'numel', 'logsumexp', 'median', 'prod')}()", f"torch.{self.of('mean', 'sum')}({chosen})", chosen,
                       f"{chosen}.mean() + {chosen}.sum() * s", f"({chosen} > 0).sum()")

    def numpy(self):
        t = self.r.choice(REAL)
        name = self.of("sum", "mean", "max", "min", "amax", "amin", "var", "std", "argmax", "argmin", "var", "std", "max")
        return f"np.{name}({t}, {self.of('axis=0', 'axis=-1', '1', '-1', 'axis=(0, 1)', 'axis=1, keepdims=True', '1, True', '0, None, None', 'axis=-1, ddof=1', 'axis=1, ddof=9', 'axis=7', 'axis=None', 'axis=(0, 0)', '-1, keepdims=True')})"

    def text(self):
        kinds = [self.reduction, self.reduction, self.spread, self.norm, self.rounding, self.elementwise, self.two, self.choosing, self.along, self.shaping, self.shaping, self.products,
                 self.gathering, self.indexing, self.indexing, self.indexing, self.chosen, self.numpy, self.ordering, self.ordering, self.filling, self.filling, self.matrices, self.matrices, self.losses, self.more, self.more]
        kind = self.r.choice(kinds)
        text = kind()
        if self.r.random() < 0.12 and "np." not in text and kind not in (self.indexing, self.gathering):
            text = self.of(f"{text}.sum()", f"{text}.mean(-1)", f"({text} + 1) * 2", f"{text}[0]", f"{text}.amax(0)", f"{text}.softmax(-1)", f"torch.sigmoid({text})", f"{text}[..., None]", f"{text}.reshape(-1)")
        return kind.__name__, text


def case_of(text, python=None):
    """None if it is none: too large, no tensor, or a matter of types."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = evaluated(python or text)
    except Outside:
        return None if "len(" in text or "ndim" in text else [text, "outside"]
    except TypeError:
        return None
    if value is None:
        return None if "::-1" in text else [text]  # NumPy's arrays have other methods
    if value.numel() > 48 or value.dim() > 6:
        return None
    word = lambda n: ("nan" if math.isnan(n) else "inf" if n > 0 else "-inf") if not math.isfinite(n) else float(f"{n:.11g}")
    return [text, list(value.shape), [word(n) for n in value.flatten().tolist()]]


def cases(seed, count):
    made, seen = [], set()
    while len(made) < count:
        kind, text = Writer(seed).text()
        seed += 1
        case = case_of(text) if text not in seen else None
        seen.add(text)
        if case and (case[1:] != ["outside"] or kind in ("indexing", "gathering", "matrices", "losses", "more")):
            made.append((kind, case))
    return made


def written():
    made = [case_of(text) for text in ONCE.split("\n") if text]
    for line in filter(None, BOOK.split("\n")):
        text, python = line.split("  ")
        for name in "yoq":
            one, value = (re.sub(r"\bT\b", name, t) for t in (f"r[b, c] = {text}", python))
            made.append([one] if python == "None" else case_of(one, value))
    return list(filter(None, made))


def json_of(found):
    operands = {name: [axes.split(), [SIZES[a] for a in axes.split()], kind, [v if math.isfinite(v) else str(v) for v in values]] for name, (axes, values, kind) in OPERANDS.items()}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in found)
    return f'{{"operands": {json.dumps(operands)},\n"constants": {json.dumps(SIZES)},\n"cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    if len(sys.argv) > 3:
        seed, count, file = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    else:
        seed, count, file = 1, 900, HERE / "functions.json"
    file.write_text(json_of(written() + [case for _, case in cases(seed * 1000003, count)]))
