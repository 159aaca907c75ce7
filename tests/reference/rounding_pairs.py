"""Pairs of a model and a recording of another program's run in bfloat16, float16 or float32: half of them right, in six orders of
computation, half with a small mistake. Does `bisect` tell rounding from a mistake?

    python3 rounding_pairs.py PROGRAM [--count 60] [--seed 1] [--keep FOLDER]

The decoders are written here, in PyTorch, and know nothing of the program. A mistake's size is measured: the largest difference that
it makes to the first output of a module that it changes, in ulps of the type, in float64; others than those between one and twenty
ulps are left out.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import collections
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "assets" / "recorder")]

import safetensors_file  # noqa: E402
from record import record  # noqa: E402

# eager: norms and softmax in float32 inside, as Hugging Face writes them. elementary: each written operation rounds. fused: from query,
# key and value to the heads' outputs in float32. halves: products in two parts that are rounded and added. reversed: their sums from
# the end. rows: a product for each position.
ORDERS = ["eager", "elementary", "fused", "halves", "reversed", "rows"]
MISTAKES = {
    "llama": ["rope-base", "eps", "scale", "one-output", "gain-shifted", "residual", "one-head", "silu-slope", "embedding"],
    "gpt": ["eps", "other-gelu", "scale", "one-output", "bias-lost", "variance-unbiased", "residual", "one-head", "embedding"],
}


def once(f, *tensors):
    """f of them, rounded once; PyTorch 1.13 has few functions of float16 on a CPU."""
    if tensors[0].dtype != torch.float16:
        return f(*tensors)
    return f(*(None if t is None else t.float() for t in tensors)).half()


class Way:
    """How a decoder is computed: the order, and the mistake if any."""

    def __init__(self, order, mistake="", size=1.0):
        self.order, self.mistake, self.size = order, mistake, size

    def off(self, mistake, right, wrong):
        return wrong if self.mistake == mistake else right

    def product(self, x, weight, bias=None):
        """x [..., in] by weight [out, in]"""
        half = x.size(-1) // 2
        if self.order == "halves":
            y = once(torch.matmul, x[..., :half], weight[:, :half].T) + once(torch.matmul, x[..., half:], weight[:, half:].T)
        elif self.order == "reversed":
            y = once(torch.matmul, x.flip(-1), weight.flip(-1).T)
        elif self.order == "rows" and x.dim() == 3:
            y = torch.stack([once(torch.matmul, x[:, i], weight.T) for i in range(x.size(1))], 1)
        else:
            return once(nn.functional.linear, x, weight, bias)
        return y if bias is None else y + bias


class Linear(nn.Module):
    def __init__(self, inner, outer, bias, way, one_output=False, lost=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outer, inner))
        self.bias = nn.Parameter(torch.empty(outer)) if bias else None
        self.way, self.one_output, self.lost = way, one_output, lost

    def forward(self, x):
        y = self.way.product(x, self.weight, None if self.lost else self.bias)
        if self.one_output:
            y[..., y.size(-1) // 3] *= 1 + 0.02 * self.way.size
        return y


class Norm(nn.Module):
    def __init__(self, width, layer, way, bias, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.eps, self.way = way.off("eps", eps, 1e-3 * way.size), way

    def forward(self, x):
        kept = x.dtype
        if self.way.order != "elementary":
            x = x.float()
        if self.bias is not None:
            x = x - x.mean(-1, keepdim=True)
        squares = x.pow(2).sum(-1, keepdim=True) / (x.size(-1) - self.way.off("variance-unbiased", 0, 1))
        gain = self.weight + self.way.off("gain-shifted", 0.0, 0.01 * self.way.size)
        x = x * once(torch.rsqrt, squares + self.eps) if self.bias is None else x / once(torch.sqrt, squares + self.eps)
        if self.bias is None:
            return x.to(kept) * gain
        return (x * gain + self.bias).to(kept)


def turned(x, base):
    """RoPE of x [batch, head, pos, d_head], in halves."""
    width = x.size(-1)
    angles = torch.arange(x.size(2))[:, None] / base ** (torch.arange(0, width, 2) / width)
    cos, sin = torch.cat([angles.cos()] * 2, -1).to(x.dtype), torch.cat([angles.sin()] * 2, -1).to(x.dtype)
    a, b = x[..., : width // 2], x[..., width // 2 :]
    return x * cos + torch.cat([-b, a], -1) * sin


class Attention(nn.Module):
    def __init__(self, c, way, layer):
        super().__init__()
        self.c, self.way, self.layer = c, way, layer
        bias, width, kv = c["kind"] == "gpt", c["width"], c["width"] // c["heads"] * c["kv_heads"]
        wrong = layer == c["layers"] - 1
        self.q_proj = Linear(width, width, bias, way, one_output=wrong and way.mistake == "one-output")
        self.k_proj, self.v_proj = Linear(width, kv, bias, way), Linear(width, kv, bias, way)
        self.o_proj = Linear(width, width, bias, way, lost=wrong and way.mistake == "bias-lost")

    def forward(self, x):
        c, way = self.c, self.way
        size = c["width"] // c["heads"]
        q, k, v = (p(x).unflatten(-1, (-1, size)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if c["kind"] == "llama":
            base = way.off("rope-base", c["base"], c["base"] * (1 - 0.1 * way.size))
            q, k = turned(q, base), turned(k, base)
        k, v = (t.repeat_interleave(c["heads"] // c["kv_heads"], 1) for t in (k, v))
        hidden = torch.ones(x.size(1), x.size(1)).triu(1).bool()
        root = math.sqrt(size + way.off("scale", 0, way.size))
        if way.order == "fused":
            scores = (q.float() @ k.float().transpose(2, 3) / root).masked_fill(hidden, -math.inf)
            powers = (scores - scores.amax(-1, keepdim=True)).exp()
            z = ((powers / powers.sum(-1, keepdim=True)) @ v.float()).to(x.dtype)
        else:
            scores = once(torch.matmul, q, k.transpose(2, 3)) / root
            scores = scores.masked_fill(hidden, -math.inf)
            if way.order == "elementary":
                powers = once(torch.exp, scores - scores.amax(-1, keepdim=True))
                pattern = powers / powers.sum(-1, keepdim=True)
            else:
                pattern = once(lambda t: torch.softmax(t, -1), scores)
            z = once(torch.matmul, pattern, v)
        if way.mistake == "one-head":
            z = z * (1 + 0.02 * way.size * (torch.arange(z.size(1)) == 1)[:, None, None]).to(z.dtype)
        return self.o_proj(z.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, c, way):
        super().__init__()
        self.c, self.way = c, way
        bias = c["kind"] == "gpt"
        self.up_proj, self.down_proj = Linear(c["width"], c["inner"], bias, way), Linear(c["inner"], c["width"], bias, way)
        if c["kind"] == "llama":
            self.gate_proj = Linear(c["width"], c["inner"], bias, way)

    def forward(self, x):
        way = self.way
        if self.c["kind"] == "llama":
            gate = self.gate_proj(x)
            slope = way.off("silu-slope", 1.0, 1 + 0.02 * way.size)
            gate = gate / (1 + once(torch.exp, -slope * gate)) if way.order == "elementary" else (
                once(nn.functional.silu, gate) if slope == 1.0 else (gate.float() * torch.sigmoid(slope * gate.float())).to(x.dtype))
            return self.down_proj(gate * self.up_proj(x))
        up = self.up_proj(x)
        tanh = self.c["tanh"] != (way.mistake == "other-gelu")
        if way.order != "elementary":
            up = once(lambda t: nn.functional.gelu(t, approximate="tanh" if tanh else "none"), up)
        elif tanh:
            up = 0.5 * up * (1 + once(torch.tanh, math.sqrt(2 / math.pi) * (up + 0.044715 * up.pow(3))))
        else:
            up = up * 0.5 * (1 + once(torch.erf, up / math.sqrt(2)))
        return self.down_proj(up)


class Layer(nn.Module):
    def __init__(self, c, way, layer):
        super().__init__()
        self.way, bias = way, c["kind"] == "gpt"
        self.input_layernorm = Norm(c["width"], layer, way, bias, c["eps"])
        self.self_attn = Attention(c, way, layer)
        self.post_attention_layernorm = Norm(c["width"], layer, way, bias, c["eps"])
        self.mlp = Mlp(c, way)

    def forward(self, x):
        factor = self.way.off("residual", 1.0, 1 - 0.01 * self.way.size)
        x = x * factor + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    def __init__(self, c, way):
        super().__init__()
        self.c, self.way = c, way
        self.embed_tokens = nn.Embedding(c["vocabulary"], c["width"])
        if c["kind"] == "gpt":
            self.embed_positions = nn.Embedding(c["length"], c["width"])
        self.layers = nn.ModuleList([Layer(c, way, i) for i in range(c["layers"])])
        self.norm = Norm(c["width"], c["layers"], way, c["kind"] == "gpt", c["eps"])
        self.lm_head = Linear(c["width"], c["vocabulary"], False, way)

    def forward(self, input_ids):
        x = self.embed_tokens(input_ids)
        if self.way.mistake == "embedding":
            x = x * (1 + 0.01 * self.way.size)
        if self.c["kind"] == "gpt":
            x = x + self.embed_positions(torch.arange(input_ids.size(1)))[None]
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def drawn(dice):
    kind = dice.choice(["llama", "gpt"])
    heads, size = dice.choice([2, 4]), dice.choice([4, 8, 16])
    return {"kind": kind, "heads": heads, "kv_heads": dice.choice([1, 2, heads]) if kind == "llama" else heads, "width": heads * size,
            "inner": dice.choice([12, 24, 40]), "layers": dice.choice([1, 2, 3]), "vocabulary": dice.choice([13, 29]),
            "length": dice.choice([7, 12, 20]), "eps": dice.choice([1e-5, 1e-6]), "base": dice.choice([1e4, 5e5]),
            "tanh": dice.random() < 0.5}


def settings(c):
    said = {"nhead": c["heads"], "num_key_value_heads": c["kv_heads"], "layer_norm_eps": c["eps"], "norm_first": "true"}
    if c["kind"] == "gpt":
        return {**said, "positions_from": 0, "scale_embedding": "false", "activation": "gelu_tanh" if c["tanh"] else "gelu"}
    return {**said, "rope_theta": c["base"], "activation": "silu", "positional_encoding": "rope"}


def weights(c, seed):
    torch.manual_seed(seed)
    state = Model(c, Way("eager")).state_dict()
    for name, value in state.items():
        if name.endswith("norm.weight"):
            value.copy_(1 + 0.2 * torch.randn_like(value))
        elif value.dim() == 2:
            value.copy_(torch.randn_like(value) * (1.0 if "embed" in name else value.size(1) ** -0.5))
        else:
            value.copy_(0.2 * torch.randn_like(value))
    return state


def made(c, way, state, dtype):
    model = Model(c, way).eval()
    model.load_state_dict(state)
    return model.to(dtype)


def recorded(c, way, state, dtype, tokens, path, functions):
    model = made(c, way, state, dtype)
    with torch.no_grad(), record(model, path, functions=functions, parameters=False):
        return model(tokens)


def pairs(count, seed):
    """Half right, half wrong, every order and every type."""
    for i in range(count):
        dice = random.Random(f"rounding-pair-{seed}-{i}")
        c = drawn(dice)
        wrong = i % 2 == 1
        order = ORDERS[(i // 2) % len(ORDERS)]
        mistake = dice.choice(MISTAKES[c["kind"]]) if wrong else ""
        dtype = dice.choice(["bfloat16", "bfloat16", "float16", "float32"])
        size = dice.choice([0.5, 1.0, 2.0]) * {"bfloat16": 1.0, "float16": 0.25, "float32": 1e-3}[dtype] if wrong else 1.0
        if mistake == "eps":
            size = dice.choice([1.0, 2.0]) * {"bfloat16": 4.0, "float16": 1.0, "float32": 0.05}[dtype]
        if mistake == "scale" and dtype == "bfloat16":
            size = 1.0
        yield i, dice, c, Way(order, mistake, size), dtype


def ulps_of(c, way, state, tokens, dtype):
    """How large the mistake is: in the first module's output that it changes, in float64, at most and in ulps of the type."""
    digits = {"bfloat16": 8, "float16": 11, "float32": 24}[dtype]
    outputs = []
    for mistake in ("", way.mistake):
        model, found = made(c, Way("fused", mistake, way.size), state, torch.float64), []
        for module in model.modules():
            module.register_forward_hook(lambda _, __, out: found.append(out))
        with torch.no_grad():
            model(tokens)
        outputs.append(found)
    for right, wrong in zip(*outputs):
        larger = torch.maximum(right.abs(), wrong.abs()).clamp_min(1e-3)
        ulps = ((right - wrong).abs() / torch.exp2(torch.floor(torch.log2(larger)) + 1 - digits)).max().item()
        if ulps > 1e-3:
            return ulps
    return 0.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    told = collections.Counter()
    for i, dice, c, way, dtype in pairs(options.count, options.seed):
        if options.only is not None and i != options.only:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(options.keep or scratch) / f"{options.seed}-{i}"
            folder.mkdir(parents=True, exist_ok=True)
            state = weights(c, dice.randrange(1 << 30))
            tokens = torch.tensor([[dice.randrange(c["vocabulary"]) for _ in range(c["length"])] for _ in range(2)])
            size = ulps_of(c, way, state, tokens, dtype) if way.mistake else 0.0
            if way.mistake and not 1 <= size <= 20 and dtype != "float32":
                told["left out: not between 1 and 20 ulps"] += 1
                continue
            kind, functions = getattr(torch, dtype), dice.random() < 0.7
            safetensors_file.save(folder / "model.safetensors", {n: v.numpy() for n, v in state.items()})
            recorded(c, way, state, kind, tokens, str(folder / "trace.safetensors"), functions)
            sets = [word for key, value in settings(c).items() for word in ("--set", f"{key}={value}")]
            ran = subprocess.run([options.program, "bisect", str(folder / "model.safetensors"), "--against",
                                  str(folder / "trace.safetensors"), *sets, "--json"], capture_output=True, text=True)
            if options.keep:
                (folder / "sets").write_text(" ".join(sets))
        what = f"{i}: {dtype} {c['kind']} {way.order} {way.mistake or 'right'}" + (f" {way.size:g}, {size:.1f} ulps" if way.mistake else "")
        what += "" if functions else " modules"
        try:
            said = json.loads(ran.stdout)
        except ValueError:
            told["refused"] += 1
            print(f"{what}: refused: {ran.stderr.strip()}")
            continue
        verdict = said.get("verdict") or ("differs" if said["first"] else "rounding")
        right = (verdict == "differs") == bool(way.mistake)
        cause = next((cause["name"] for cause in said.get("causes", []) if cause["explains"]), None)
        told["right" if right else "missed" if way.mistake else "false alarm"] += 1
        print(f"{what}: {'' if right else '*** '}{verdict}, {said['first']}, {cause}, {said.get('relation')}, {said.get('why')}")
    print(dict(told))


if __name__ == "__main__":
    main()
