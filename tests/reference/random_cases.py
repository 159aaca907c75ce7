"""Random configurations of all keys: the program computes each, and every tensor and gradient is compared with the reference.

    python3 random_cases.py PROGRAM [--count 100] [--seed 1] [--without KEY,KEY=VALUE,…] [--keep FOLDER]

A tensor may be off by 1e-5 of its largest number (at least of 1), or by eight times what float32 itself is off from float64; a
gradient by 1e-4 of its largest number. Configurations whose routing rounding could decide are left out. What failed is kept in
FOLDER as a fixture.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import torch

import crosscheck_today
import decoder
import rng
import safetensors_file
from case import Case
from config import DEFAULTS, complete
from make_gradients import Differentiable


class Draw:
    """Chooses values of keys; most keys keep their default."""

    def __init__(self, seed):
        self.random, self.config = random.Random(seed), {}

    def maybe(self, chance):
        return self.random.random() < chance

    def pick(self, *values):
        return self.random.choice(values)

    def number(self, low, high):
        return round(self.random.uniform(low, high), 3)

    def some(self, count):
        """A few of the layers; none of them is all of them."""
        return [layer for layer in range(count) if self.maybe(0.5)]

    def set(self, chance, **values):
        if self.maybe(chance):
            self.config.update(values)


def shape(d):
    heads = d.pick(1, 2, 3, 4)
    width = d.pick(4, 6, 8)
    d.config.update(d_model=heads * width, nhead=heads, num_layers=d.pick(1, 2, 3), dim_feedforward=d.pick(5, 8, 12))
    d.set(0.25, head_dim=d.pick(4, 6, 10))
    d.set(0.3, num_key_value_heads=1 if heads == 3 else d.pick(1, heads))
    d.set(0.6, vocab_size=9, lm_head=True)


def norms(d):
    placement = d.pick("pre", "pre", "post", "peri", "reordered")
    d.config.update(norm_placement=placement, norm_first=placement == "pre", bias=d.maybe(0.5),
                    norm=d.pick("layernorm", "layernorm_plus_one", "rmsnorm", "rmsnorm", "rmsnorm_plus_one", "layernorm_std",
                                "dynamic_tanh"))
    d.set(0.5, final_norm=True)
    d.set(0.15, norm_gain=False)
    d.set(0.15, embedding_norm=True)
    if placement == "pre":
        d.set(0.2, parallel_residual=d.pick("one_norm", "two_norms"))
    d.set(0.2, residual_scale=d.number(0.5, 1.5))
    d.set(0.2, update_scale=d.number(0.2, 1.5))
    d.set(0.2, layer_scale=True)


def scales(d):
    d.set(0.2, attention_scale=d.number(0.1, 1))
    d.set(0.15, attention_soft_cap=d.number(0.5, 4))
    if "vocab_size" in d.config:
        d.set(0.15, logit_scale=d.number(0.1, 2))
        d.set(0.15, logit_soft_cap=d.number(0.5, 4))
        d.set(0.2, scale_embedding=True)
        d.set(0.2, embedding_scale=d.number(0.3, 3))
        d.set(0.2, tie_word_embeddings=True)


def attention(d):
    c, layers = d.config, d.config["num_layers"]
    d.set(0.3, sliding_window=d.pick(1, 2, 3))
    if "sliding_window" in c:
        d.set(0.5, sliding_window_layers=d.some(layers))
    d.set(0.25, attention_sinks=True)
    d.set(0.1, causal=False)
    d.set(0.15, mask_value=d.pick("-1e9", "-1.5"))
    if d.maybe(0.3):
        latent(d)
    else:
        d.set(0.35, qk_norm=True, **d.pick({}, {"qk_norm_across_heads": True}, {"qk_norm_after_rope": True}))
        d.set(0.2, clip_qkv=d.number(0.3, 2))
        d.set(0.2, query_scale_beta=d.number(0.1, 1), query_scale_positions=d.pick(1, 2, 3))
    if d.maybe(0.15):
        c["alibi"] = True
    elif d.maybe(0.7):
        rope(d)
    elif d.maybe(0.6):
        c["positional_encoding"] = d.pick("sinusoidal", "learned")
        d.set(c["positional_encoding"] == "learned", max_positions=20)
    d.set(0.4, positions=d.pick("from_mask", "from_segments"))


def latent(d):
    c = d.config
    c.pop("num_key_value_heads", None)
    c.update(head_dim=d.pick(5, 7, 8), kv_lora_rank=d.pick(3, 5), qk_rope_head_dim=d.pick(2, 4), v_head_dim=d.pick(0, 3))
    d.set(0.5, q_lora_rank=d.pick(3, 6))


def rope(d):
    c, layers = d.config, d.config["num_layers"]
    columns = c.get("qk_rope_head_dim") or c.get("head_dim") or c["d_model"] // c["nhead"]
    c.update(positional_encoding="rope", rope_theta=d.pick(30.0, 100.0, 10000.0))
    d.set(0.3, rope_interleaved=True)
    if columns > 4 and "kv_lora_rank" not in c and d.maybe(0.25):
        columns = c["rotary_dim"] = 4
    d.set(0.25, rope_layers=d.some(layers))
    if "sliding_window" in c:
        d.set(0.4, rope_local_theta=d.pick(5.0, c["rope_theta"]))
    kind = d.pick("none", "none", "linear", "llama3", "yarn", "yarn", "longrope")
    if kind == "none":
        return
    c.update(rope_scaling=kind, rope_factor=d.number(1.5, 8))
    if kind != "linear":
        c.update(rope_original_positions=d.pick(4, 32, 64) if kind == "longrope" else d.pick(32, 64))
    if kind == "yarn":
        d.set(0.7, rope_beta_fast=d.number(2, 8))
        d.set(0.3, rope_beta_slow=d.number(0.3, 1.5))
        d.set(0.4, rope_truncate=False)
    if kind == "longrope":
        c.update(rope_short_factors=[d.number(1, 2) for _ in range(columns // 2)],
                 rope_long_factors=[d.number(1, 9) for _ in range(columns // 2)])
    if kind in ("yarn", "longrope"):
        d.set(0.3, rope_attention_factor=d.number(0.7, 1.4))


def mlps(d):
    c, layers = d.config, d.config["num_layers"]
    c.update(activation=d.pick("relu", "gelu", "gelu_tanh", "silu", "relu2", "mish", "tanh2"), gated_mlp=d.maybe(0.5))
    if c["gated_mlp"]:
        d.set(0.3, activation="swiglu_clamped", swiglu_limit=d.number(0.5, 3), swiglu_alpha=d.number(0.5, 2))
    else:
        d.set(0.15, activation="xielu")
    if c["activation"] == "xielu" or not d.maybe(0.45):
        return
    groups, size = d.pick((1, 3), (1, 4), (1, 5), (2, 3), (4, 2), (3, 2))
    top = d.random.randint(1, groups)
    c.update(experts=groups * size, experts_per_token=d.random.randint(1, min(3, top * size)))
    if groups > 1:
        c.update(router_groups=groups, router_top_groups=top)
    d.set(0.7, expert_dim_feedforward=d.pick(3, 6))
    d.set(0.4, moe_layers=d.some(layers))
    d.set(0.5, router="sigmoid")
    d.set(0.5, router_normalize=True)
    d.set(0.3, router_scale=d.number(0.5, 2.5))
    if groups == 1 and d.maybe(0.25):
        c.update(router="sparsemixer", router_normalize=False, router_scale=1.0, router_jitter=d.number(0.05, 0.5))
    if d.maybe(0.4):
        c["shared_dim_feedforward"] = d.pick(4, 7)
        d.set(0.5, shared_gate=True)


def sources(d):
    c = d.config
    if "parallel_residual" in c or not d.maybe(0.15):
        return
    c["cross_attention"] = True
    d.set(0.6, encoder_layers=1)


def inputs_of(d):
    c = complete(d.config)
    length, found = d.pick(4, 5, 7), {}
    if c["vocab_size"]:
        found["tokens"] = np.array([[d.random.randrange(c["vocab_size"]) for _ in range(length)] for _ in range(2)])
    else:
        found["x"] = rng.normals(d.random.randrange(10**6), "x", (2, length, c["d_model"])).astype(np.float32)
    if d.maybe(0.6):
        found["attention_mask"] = np.array(
            [[1] * length, d.pick([1] * (length - 2) + [0, 0], [0, 0] + [1] * (length - 2))])
    if d.maybe(0.3):
        found["positions"] = np.array([[d.random.randrange(20) for _ in range(length)] for _ in range(2)])
    if d.maybe(0.3):
        found["segments"] = np.array([sorted(d.random.randrange(3) for _ in range(length)) for _ in range(2)])
    if c["cross_attention"]:
        if c["encoder_layers"] and c["encoder_vocab_size"]:
            found["encoder_tokens"] = np.array([[d.random.randrange(c["encoder_vocab_size"]) for _ in range(6)]] * 2)
        else:
            found["memory"] = rng.normals(d.random.randrange(10**6), "memory", (2, 6, c["d_model"])).astype(np.float32)
    return {name: value.astype(np.int64) if value.dtype.kind == "i" else value for name, value in found.items()}


def drawn(seed, without):
    d = Draw(seed)
    for part in (shape, norms, scales, attention, mlps, sources):
        part(d)
    config = {key: value for key, value in d.config.items()
              if key not in without and f"{key}={value}" not in without and value != DEFAULTS.get(key, ...)}
    if "rope_scaling" not in config:
        config = {key: value for key, value in config.items() if key not in ("rope_factor", "rope_original_positions")}
    if "experts" in without:
        config = {key: value for key, value in config.items() if not key.startswith(("expert", "router", "shared_", "moe"))}
    if "kv_lora_rank" in without and "kv_lora_rank" in d.config:
        config = {key: value for key, value in config.items() if key not in ("q_lora_rank", "qk_rope_head_dim", "v_head_dim")}
        config["head_dim"] = 6
    d.config = config
    case = Case(f"random-{seed}", "", config, inputs_of(d), rng.perturbed_weights(config, seed))
    if config.get("router") == "sigmoid" and d.maybe(0.4):
        case.weights = {name: value for name, value in case.weights.items() if not name.endswith(".correction")}
    return case


def surely_routed(case):
    """Whether all scores are numbers, and none is so near another that rounding decides."""
    if complete(case.config)["experts"] == 0:
        return True
    try:
        crosscheck_today.experts_by_hand(case)
    except (AssertionError, StopIteration):
        return False
    return True


def save(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "decoderscope", **case.config}, indent=1) + "\n")
    safetensors_file.save(folder / "model.safetensors", case.weights)
    safetensors_file.save(folder / "inputs.safetensors", case.inputs)


def exact_trace(case):
    weights = {name: torch.as_tensor(value).double() for name, value in case.weights.items()}
    inputs = {name: value.astype("f8") if value.dtype == np.float32 else value for name, value in case.inputs.items()}
    return {name: value.numpy() for name, value in decoder.run(case.config, weights, inputs).items()}


def computed(program, folder, *options):
    out = folder / "trace.safetensors"
    result = subprocess.run([program, "trace", str(folder), "--inputs", str(folder / "inputs.safetensors"), "--out", str(out),
                             *options], capture_output=True, text=True, timeout=120)
    return (safetensors_file.load(out), "") if result.returncode == 0 else (None, result.stderr.strip())


def off(ours, theirs, allowed):
    """How far, in units of what is allowed; infinite where something isn't finite in one of them."""
    if ours is None or ours.shape != theirs.shape:
        return np.inf
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if not (np.isfinite(ours) & np.isfinite(theirs) | same).all():
        return np.inf
    distance = np.where(same, 0, np.abs(np.where(same, 0, ours) - np.where(same, 0, theirs)))
    return float(distance.max() / allowed)


def size_of(value):
    """The largest number, without fills."""
    usual = value[np.isfinite(value) & (np.abs(value) < 1e4)]
    return max(1.0, float(np.abs(usual).max(initial=0)))


def wrong_forward(program, folder, case):
    trace, said = computed(program, folder)
    if trace is None:
        return f"refused: {said}"
    exact, rounded = exact_trace(case), {name: value.numpy() for name, value in case.run().items()}
    missing, extra = [n for n in exact if n not in trace], [n for n in trace if n not in exact]
    if missing or extra:
        return f"names: missing {missing[:4]}, too many {extra[:4]}"
    for name, theirs in exact.items():
        own = np.abs(np.nan_to_num(rounded[name] - theirs, posinf=0, neginf=0)).max(initial=0)
        found = off(trace[name], rounded[name], max(1e-5 * size_of(theirs), 8 * own))
        if found > 1:
            return f"{name} off by {found:.3g} times what is allowed"
    return None


def wrong_gradients(program, folder, case):
    if any(np.isnan(value).any() for value in exact_trace(case).values()):
        return None  # a row without a key: NaN times 0 is either, depending on how a derivative is written
    last = complete(case.config)["num_layers"] - 1
    target = f"blocks.{last}.resid_post[0,2,1]"
    trace, said = computed(program, folder, "--gradients-of", target)
    if trace is None:
        return f"gradients refused: {said}"
    exact, rounded = (Differentiable(case, precision).gradients(target) for precision in (torch.float64, torch.float32))
    noise = 1e-6 * max(float(value.abs().max()) for value in exact.values())  # the gradient of k's bias is nothing else
    for name, theirs in exact.items():
        theirs, single = theirs.numpy(), rounded[name].numpy()
        own = np.abs(np.nan_to_num(single - theirs)).max(initial=0)
        found = off(trace.get("grad." + name), theirs, max(1e-4 * np.abs(np.nan_to_num(theirs)).max(initial=0), 8 * own + noise))
        if found > 1:
            return f"grad.{name} off by {found:.3g} times what is allowed"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", default="")
    parser.add_argument("--keep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    np.seterr(invalid="ignore")  # infinities of masks
    without, tried, failed = set(filter(None, options.without.split(","))), 0, 0
    for seed in range(options.seed, options.seed + options.count):
        case = drawn(seed, without)
        if not surely_routed(case):
            continue
        tried += 1
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / case.name
            save(case, folder)
            wrong = wrong_forward(options.program, folder, case) or wrong_gradients(options.program, folder, case)
        if wrong is not None:
            failed += 1
            print(f"{seed}: {wrong}\n    {json.dumps(case.config)}")
            if options.keep:
                save(case, pathlib.Path(options.keep) / case.name)
    print(f"{tried - failed} of {tried} configurations agree")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
