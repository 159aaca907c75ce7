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


def tensors():
    made = {}
    for name, (axes, values, kind) in OPERANDS.items():
        dtype = {"whole": torch.int64, "condition": torch.bool}.get(kind, torch.float64)
        made[name] = torch.tensor(values, dtype=dtype).reshape([SIZES[a] for a in axes.split()])
    return made


torch.set_default_dtype(torch.float64)
F.rms_norm = lambda x, shape, weight=1.0, eps=2.0**-23: x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight
TENSORS = tensors()
ARRAYS = {name: t.numpy() for name, t in TENSORS.items()}
NAMES = {"torch": torch, "F": F, "np": np, "math": math, "inf": INF, "einsum": torch.einsum, "arange": torch.arange, **SIZES}


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
"""

# The functions and reductions of index notation, of each of these tensors.
BOOK = """
relu(T[b, c])  F.relu(T)
relu2(T[b, c])  F.relu(T) ** 2
silu(T[b, c])  F.silu(T)
gelu(T[b, c])  F.gelu(T)
gelu_tanh(T[b, c])  F.gelu(T, approximate="tanh")
mish(T[b, c])  F.mish(T)
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
T[b, −1] + z[c]  None
T[b, 4] + z[c]  None
T[b, c / 2]  None
T[b, [z[c] > 0]]  None
T[[z[c] > 0], c] + 0 · T[b, c]  None
T[b, 0.5] + z[c]  None
"""


class Outside(Exception):
    pass


def evaluated(text):
    """The value; None if it is refused."""
    uses_numpy = "np." in text
    for operands in (ARRAYS,) if uses_numpy else (TENSORS, ARRAYS):
        try:
            value = eval(text, {**NAMES, **{name: given.copy() if operands is ARRAYS else given for name, given in operands.items()}})  # NumPy sorts in place
        except Exception as error:
            message = str(error)
            if re.search(r"(var|std)\(.*(correction|keepdim|ddof)", text) and "invalid combination" in message:
                raise TypeError("newer versions need no axis") from error
            if re.search(r"index -?\d+ is out of bounds|out of bounds for axis|index out of range in self", message) and re.search(r"\b([ijt]|argmax|argmin)\b", text):
                raise Outside() from error
            if operands is not ARRAYS and is_about_type(message):
                raise TypeError("a type") from error
            continue
        if not isinstance(value, (torch.Tensor, np.ndarray, np.generic, float, int)):
            raise TypeError("no tensor")
        value = torch.as_tensor(np.array(value) if isinstance(value, (np.ndarray, np.generic)) else value)
        return value.to(torch.float64)
    return None


def is_about_type(message):
    words = ("dtype", "Bool", "bool tensor", "Long", "scalar type", "floating point", "integral", "ooleans", "Float", "Double", "expected condition",
             "mask", "ambiguous", "has no attribute", "view size is not compatible", "unexpected keyword argument", "argument 'other'", "ZeroDivision", "not subscriptable", "must be tuple of SymInts", "Expected at most 2", "negative integer powers", "argmax_cpu", "not implemented for", "Negation", "`-` operator", "bitwise", "bad operand type", "unsupported operand")
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
                       f"torch.hypot({t}, {self.tensor()})", f"torch.lerp({t}, {self.tensor()}, {self.of('0', '1', '0.5', '2', '-1', '0.25')})", f"torch.logical_{self.of('and', 'or')}({self.of('k', 'g', 'q', 'o')}, {self.of('k', 'g', 'q', 'z')})", f"torch.logical_not({self.of('k', 'q', 'o')})", f"np.{self.of('sign', 'log1p', 'isnan', 'hypot')}(o{self.of('', ', q')})")

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
                 self.gathering, self.indexing, self.indexing, self.indexing, self.chosen, self.numpy, self.ordering, self.ordering, self.filling, self.filling]
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
        return [text, "outside"]
    except TypeError:
        return None
    if value is None:
        return [text]
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
        if case and (case[1:] != ["outside"] or kind in ("indexing", "gathering")):
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
