"""Recordings of generations with a KV cache: right ones, and ones with a mistake that only the cached path has. Does `bisect` find the
first pass that differs, and the cause?

    python3 cached_paths.py PROGRAM [--seed 1] [--keep FOLDER]

The decoder is written here, in PyTorch, as tutorials write it: each call is given the new tokens, a cache of keys and values by layer,
and the padding mask of all positions. It knows nothing of the program.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
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

# What is wrong, and the names of which bisect should give one. The first pass is right in each.
MISTAKES = {
    "offset one too far": ["cached-positions-ahead"],
    "offset one too low": ["cached-positions-behind"],
    "no offset": ["cached-positions-restart"],
    "offset not advanced": ["cached-positions-stuck"],
    "mask from the first key": ["cached-mask-top-left"],
    "cache of the next layer": ["cache-of-the-next-layer"],
    "cache of the layer before": ["cache-of-the-layer-before"],
    "newest row lost": ["cache-one-short"],
    "first row lost": ["cache-lost-the-first"],
    "rows of the batch exchanged": ["cache-of-another-row"],
    "padding not masked": ["cached-padding-kept"],
    "window not applied": ["cached-window-missing"],
}


def turned(x, at, base):
    """RoPE of x [batch, head, pos, d_head], in halves; `at` [batch, pos] are the positions' numbers."""
    half = x.size(-1) // 2
    angles = at[:, None, :, None].float() / base ** (torch.arange(0, 2 * half, 2) / (2 * half))
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, c, layer):
        super().__init__()
        self.c, self.layer = c, layer
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(c["width"], c["width"], bias=False) for _ in range(4))

    def forward(self, x, at, cache, keep):
        c = self.c
        q, k, v = (p(x).unflatten(-1, (c["heads"], -1)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if c["rope"]:
            q, k = turned(q, at, 10000.0), turned(k, at, 10000.0)
        if self.layer in cache["read"]:
            old_k, old_v = cache["read"][self.layer]
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        cache["written"][self.layer] = (k, v)
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~keep, -1e9)
        return self.o_proj((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, c, layer):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(c["width"]), nn.LayerNorm(c["width"])
        self.self_attn = Attention(c, layer)
        self.up_proj = nn.Linear(c["width"], c["inner"], bias=False)
        self.down_proj = nn.Linear(c["inner"], c["width"], bias=False)

    def forward(self, x, at, cache, keep):
        x = x + self.self_attn(self.norm1(x), at, cache, keep)
        return x + self.down_proj(nn.functional.gelu(self.up_proj(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, c, mistake):
        super().__init__()
        self.c, self.mistake = c, mistake
        self.embed = nn.Embedding(c["vocabulary"], c["width"])
        if not c["rope"]:
            self.pos_embed = nn.Embedding(c["most"], c["width"])
        self.layers = nn.ModuleList([Layer(c, i) for i in range(c["layers"])])
        self.norm = nn.LayerNorm(c["width"])
        self.lm_head = nn.Linear(c["width"], c["vocabulary"], bias=False)
        self.cache, self.seen, self.first = {}, 0, 0

    def numbers(self, attention_mask, new):
        """[batch, pos]: the new positions' numbers, where padding doesn't count."""
        at = (attention_mask.cumsum(-1) - 1).clamp(min=0)[:, -new:]
        wrong = {"offset one too far": at + 1, "offset one too low": (at - 1).clamp(min=0), "no offset": torch.arange(new).expand_as(at),
                 "offset not advanced": (at - (self.seen - self.first)).clamp(min=0)}
        return wrong.get(self.mistake, at) if self.seen > 0 else at

    def keep(self, attention_mask, new, kept):
        """[batch, 1, query, key]: what the new positions may see."""
        query, key = torch.arange(kept, kept + new)[:, None], torch.arange(kept + new)
        cached = self.seen > 0
        start = 0 if cached and self.mistake == "mask from the first key" else kept
        keep = key <= query - kept + start
        if self.c["window"] > 0 and not (cached and self.mistake == "window not applied"):
            keep = keep & (query - key < self.c["window"])
        if cached and self.mistake == "padding not masked":
            return keep[None, None]
        return keep & (attention_mask[:, None, None, -(kept + new):] != 0)

    def read(self):
        """What the layers read of the cache."""
        cache, layers = self.cache, self.c["layers"]
        if self.mistake == "cache of the next layer":
            return {i: cache[min(i + 1, layers - 1)] for i in cache}
        if self.mistake == "cache of the layer before":
            return {i: cache[max(i - 1, 0)] for i in cache}
        change = {"newest row lost": lambda t: t[:, :, :-1], "first row lost": lambda t: t[:, :, 1:],
                  "rows of the batch exchanged": lambda t: t.flip(0)}.get(self.mistake)
        return {i: tuple(change(t) for t in rows) for i, rows in cache.items()} if change else dict(cache)

    def forward(self, input_ids, attention_mask):
        new = input_ids.size(1)
        at = self.numbers(attention_mask, new)
        x = self.embed(input_ids)
        if not self.c["rope"]:
            x = x + self.pos_embed(at)
        cache = {"read": self.read() if self.seen > 0 else {}, "written": {}}
        kept = cache["read"][0][0].size(2) if cache["read"] else 0
        mask = attention_mask
        if self.mistake in ("newest row lost", "first row lost") and self.seen > 0:
            lost = self.seen - 1 if self.mistake == "newest row lost" else 0
            mask = torch.cat([attention_mask[:, :lost], attention_mask[:, lost + 1:]], 1)
        keep = self.keep(mask, new, kept)
        for layer in self.layers:
            x = layer(x, at, cache, keep)
        self.first = self.first or new
        # A wrong read isn't written back: each pass is wrong by itself.
        self.cache = {i: tuple(torch.cat([old, rows[:, :, -new:]], 2) if self.seen else rows
                               for old, rows in zip(self.cache.get(i, rows2), rows2)) for i, rows2 in cache["written"].items()}
        self.seen += new
        return self.lm_head(self.norm(x))


def drawn(dice, mistake):
    heads = dice.choice([2, 4])
    rope = dice.random() < 0.5
    return {"heads": heads, "width": heads * dice.choice([4, 8]), "inner": 24, "layers": dice.choice([2, 3]), "vocabulary": 19,
            "rope": rope, "most": 24, "window": dice.choice([3, 4]) if mistake == "window not applied" else 0 if "lost" in mistake or "padding" in mistake else dice.choice([0, 0, 4]),
            "prompt": dice.choice([5, 6, 8]), "padding": dice.choice([1, 2]) if mistake == "padding not masked" else dice.choice([0, 2]),
            "chunks": [dice.choice([1, 2])] + [1] * dice.choice([2, 3])}


def config(c):
    return {"model_type": "decoderscope", "d_model": c["width"], "nhead": c["heads"], "num_layers": c["layers"],
            "dim_feedforward": c["inner"], "norm_first": True, "final_norm": True, "activation": "gelu", "bias": False,
            "vocab_size": c["vocabulary"], "lm_head": True, "mask_value": "-1e9", "positions": "from_mask",
            "max_positions": c["most"], "positional_encoding": "rope" if c["rope"] else "learned",
            **({"sliding_window": c["window"]} if c["window"] else {})}


def record_generation(c, model, path, dice):
    generator = torch.Generator().manual_seed(dice.randrange(10**6))
    length = c["prompt"] + sum(c["chunks"])
    ids = torch.randint(1, c["vocabulary"], (2, length), generator=generator)
    mask = torch.ones(2, length, dtype=torch.long)
    mask[1, : c["padding"]] = 0
    ids[1, : c["padding"]] = 0
    with torch.no_grad(), record(model, str(path)):
        at = 0
        for size in [c["prompt"]] + c["chunks"]:
            model(ids[:, at : at + size], mask[:, : at + size])
            at += size


def asked(program, folder, mistake, seed):
    dice = random.Random(seed)
    c = drawn(dice, mistake)
    torch.manual_seed(seed)
    model = Decoder(c, mistake)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    for name, parameter in model.named_parameters():
        if "norm" in name and name.endswith("weight"):
            nn.init.normal_(parameter, mean=1.0, std=0.2)
        if "norm" in name and name.endswith("bias"):
            nn.init.zeros_(parameter)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(c)))
    weights = {name: value.detach().numpy() for name, value in model.named_parameters() if not ("norm" in name and name.endswith("bias"))}
    safetensors_file.save(folder / "model.safetensors", weights)
    record_generation(c, model, folder / "trace.safetensors", dice)
    done = subprocess.run([program, "bisect", str(folder), "--against", str(folder / "trace.safetensors"), "--json"],
                          capture_output=True, text=True)
    if not done.stdout:
        return c, done.returncode, {"error": done.stderr.strip()}
    return c, done.returncode, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    told = 0
    cases = [""] * len(MISTAKES) + list(MISTAKES)
    for i, mistake in enumerate(cases):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(options.keep or scratch) / f"{options.seed + i}"
            c, status, found = asked(options.program, folder, mistake, options.seed * 1000 + i)
        causes = [cause["name"] for cause in found.get("causes", [])]
        if mistake:
            right = status == 1 and found.get("pass", 0) >= 1 and bool(causes) and causes[0] in MISTAKES[mistake]
        else:
            right = status == 0 and found.get("passes") == 1 + len(c["chunks"])
        told += right
        if not right:
            print(f"{i} {mistake or 'right'}: status {status}, pass {found.get('pass')} of {found.get('passes')}, first "
                  f"{found.get('first')}, causes {causes}, {found.get('error', '')} {found.get('not_compared', '')}\n    {json.dumps(c)}")
    print(f"{told} of {len(cases)} told")
    return told < len(cases)


if __name__ == "__main__":
    sys.exit(main())
