"""Every row of assets/tables/rows.json in float64, by numpy, for three bundled models; writes ready_rows.json.

    python3 ready_rows.py PROGRAM

PROGRAM only records what the rows read: the run, the run with a head switched off, the same in bfloat16 (which flips
predictions and experts), and one with dropout. Each row is written here from its title, with numpy's own functions, and
not from its formula. A row of many numbers is stored as its shape and two sums over all of them, weighted by the cosine and
the sine of their places, so that no number can be wrong and not be noticed; a row of whole numbers is checked not to
depend on a rounding.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import safetensors_file

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS = ["reverse", "verses", "experts"]
# What is on the stage of a run of "reverse", beside which rows that are of any attention or stack are of its own.
BESIDE = {"cross": ("blocks.*.attn", "blocks.*.cross_attn"), "encoder": ("blocks.*", "encoder.blocks.*")}
ANYWHERE = {row["row"] for row in json.loads((ROOT / "assets" / "tables" / "rows.json").read_text()) if row.get("anywhere")}
EDIT = {"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0.0}
INPUTS = ("tokens", "targets", "attention_mask", "encoder_tokens", "encoder_attention_mask")
ROUNDING = 3e-6  # what may not decide between two whole numbers, of the larger one


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def log_sum_exp(x):
    top = x.max(axis=-1)
    return top + np.log(np.exp(x - top[..., None]).sum(axis=-1))


def length(x):
    return np.linalg.norm(x, axis=-1)


def cosine(x, y):
    return np.sum(x * y, axis=-1) / (length(x) * length(y))


def cosines(x, y=None):
    """[batch, a, b] of each of x [batch, a, …] with each of y."""
    y = x if y is None else y
    x, y = x.reshape(*x.shape[:2], -1), y.reshape(*y.shape[:2], -1)
    return np.einsum("bgi,bhi->bgh", x, y) / (length(x)[:, :, None] * length(y)[:, None, :])


class Close(Exception):
    """Two numbers whose order is a matter of rounding."""


def apart(a, b, what="", of=0.0):
    """Whether a > b, cell by cell, and that no rounding says so; equal numbers are the same one."""
    near = (a != b) & (np.abs(a - b) <= ROUNDING * np.maximum(np.maximum(np.abs(a), np.abs(b)), of))
    if near.any():
        raise Close(f"{what}{int(near.sum())} of {near.size} are a rounding apart")
    return a > b


def descending(x):
    """The places of a row's numbers, the largest first; of equal ones, the first."""
    order = np.argsort(-x, axis=-1, kind="stable")
    sorted_x = np.take_along_axis(x, order, axis=-1)
    apart(sorted_x[..., :2][..., :1], sorted_x[..., 1:2])
    return order


def best(x):
    return descending(x)[..., 0].astype(float)


def margin(logits):
    order = descending(logits)
    values = np.take_along_axis(logits, order, axis=-1)
    return values[..., 0] - values[..., 1]


class Run:
    """A trace with its weights and inputs, all in float64; runs beside it as base, exact and other."""

    def __init__(self, tensors, weights, **beside):
        self.t = {name: np.asarray(value, dtype=np.float64) for name, value in tensors.items()}
        self.w = weights
        self.beside = beside

    def __getitem__(self, name):
        return self.t[name]

    def answers(self, of_position):
        """of_position(batch, position, target) where there is a target, else 0."""
        targets = self["targets"].astype(int)
        out = np.zeros(targets.shape)
        for place in np.ndindex(*targets.shape):
            if targets[place] >= 0:
                out[place] = of_position(*place, targets[place])
        return out


def head_row(run, token):
    return run.w["lm_head.weight"][token]


def answer_rank(run, stream):
    scores = run[stream] @ run.w["lm_head.weight"].T

    def rank(b, p, target):
        others = np.delete(scores[b, p], target)
        return float(apart(others, scores[b, p, target], of=np.abs(scores[b, p]).max()).sum())

    return run.answers(rank)


def target_rank(run):
    logits = run["logits"]
    return run.answers(lambda b, p, t: float(apart(np.delete(logits[b, p], t), logits[b, p, t]).sum()))


def keys_of_95(pattern):
    """How many of the largest weights must be taken to have 95 %: those before which less than that lies."""
    out = np.zeros(pattern.shape[:-1])
    for place in np.ndindex(*out.shape):
        row = pattern[place]
        before = np.array([row[row > weight].sum() for weight in row])
        out[place] = float((~apart(before, np.full_like(before, 0.95)) & (before != 0.95)).sum())
    return out


def causal_softmax(scores, seen):
    return softmax(np.where(seen, scores, -np.inf))


def entropy(p):
    return -np.sum(np.where(p > 0, p * np.log2(np.where(p > 0, p, 1.0)), 0.0), axis=-1)


def previous(pattern):
    queries = np.arange(1, pattern.shape[2])
    return pattern[:, :, queries, queries - 1].sum(axis=-1) / (pattern.shape[2] - 1)


def same_token(r, pattern):
    tokens = r["tokens"]
    return np.sum(np.tril(tokens[:, :, None] == tokens[:, None, :], -1)[:, None] * pattern, axis=-1)


def distances(pattern):
    queries, keys = np.arange(pattern.shape[2]), np.arange(pattern.shape[3])
    return np.sum(pattern * (queries[:, None] - keys[None, :]), axis=-1)


def ahead(pattern):
    return np.triu(pattern, 1).sum(axis=-1)


def neurons(r, at):
    """[batch, pos, d_ff]; experts have theirs by slot, and no such rows"""
    post = r[f"{at}.post"]
    if post.ndim != 3:
        raise KeyError(at)
    return post


def neuron_writes(r, at):
    post, down = r[f"{at}.mlp.post"], r.w[f"layers.{layer_of(at)}.down_proj.weight"]
    out = np.zeros(post.shape)
    targets = r["targets"].astype(int)
    for place in np.ndindex(*targets.shape):
        if targets[place] >= 0:
            out[place] = post[place] * (down.T @ head_row(r, targets[place]))
    return out


def layer_of(at):
    return at.split(".")[1]


def relative_rounding(x, exact, unit):
    return length(x - exact) / length(exact) / unit


def may_flip(r):
    logits, exact = r["logits"], r.beside["exact"]["logits"]
    return 1.0 - apart(margin_of_any(logits), 2 * np.abs(logits - exact).max(axis=-1)).astype(float)


def margin_of_any(logits):
    ordered = np.sort(logits, axis=-1)
    return ordered[..., -1] - ordered[..., -2]


def first_largest(x):
    """argmax where numbers were rounded to few digits, so that equal ones are equal: the first of them."""
    return np.argmax(x, axis=-1)


def head_parts(matrix, heads):
    """[head, d_head, in] of the rows of a weight."""
    return matrix.reshape(heads, -1, matrix.shape[-1])


def copies(r, at):
    """What each head's output of each value adds to the logit of its own token, above that to the average one."""
    v, tokens, unembed = r[f"{at}.v"], r["tokens"].astype(int), r.w["lm_head.weight"]
    heads = v.shape[1]
    if r[f"{at}.pattern"].shape[1] != heads:
        raise KeyError(at)
    o = r.w[f"layers.{layer_of(at)}.self_attn.o_proj.weight"]
    written = np.stack([v[:, h] @ o[:, h * v.shape[-1]:(h + 1) * v.shape[-1]].T for h in range(heads)], axis=1)
    logits = written @ unembed.T
    return np.take_along_axis(logits, tokens[:, None, :, None], axis=-1)[..., 0] - logits.mean(axis=-1)


def position_share(r, at):
    scores, mask = r[f"{at}.attn_scores"], r[f"{at}.mask"]
    out = np.zeros(scores.shape[:2])
    for place in np.ndindex(*out.shape):
        seen = [(q, k) for q, k in zip(*np.tril_indices(scores.shape[2])) if mask[place][q, k] != 0]
        values = np.array([scores[place][q, k] for q, k in seen])
        distance = np.array([q - k for q, k in seen])
        predicted = np.zeros_like(values)
        for d in set(distance):
            predicted[distance == d] = values[distance == d].mean()
        out[place] = ((predicted - values.mean()) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    return out


def induction(r, at):
    pattern, tokens = r[f"{at}.pattern"], r["tokens"]
    out = np.zeros(pattern.shape[:3])
    for b, h, q in np.ndindex(*out.shape):
        out[b, h, q] = sum(pattern[b, h, q, k] for k in range(1, q + 1) if tokens[b, k - 1] == tokens[b, q])
    return out


def effective_ranks(matrices):
    """exp of the entropy of the singular values (Roy & Vetterli 2007), by numpy's SVD of each."""
    shares = [values / values.sum() for values in (np.linalg.svd(m, compute_uv=False) for m in matrices)]
    return np.array([np.exp(-np.sum(share * np.log(np.where(share > 0, share, 1.0)))) for share in shares])


def of_each_head(r, at, name, heads):
    return head_parts(r.w[f"layers.{layer_of(at)}.self_attn.{name}_proj.weight"], heads)


def qk_rank(r, at):
    """Of each head's W_Q^T W_K."""
    heads = r[f"{at}.q"].shape[1]
    if r[f"{at}.k"].shape[1] != heads:
        raise KeyError(at)
    return effective_ranks([q.T @ k for q, k in zip(of_each_head(r, at, "q", heads), of_each_head(r, at, "k", heads))])


def ov_rank(r, at):
    """Of each head's W_O W_V."""
    heads = r[f"{at}.q"].shape[1]
    if r[f"{at}.v"].shape[1] != heads:
        raise KeyError(at)
    out = np.split(r.w[f"layers.{layer_of(at)}.self_attn.o_proj.weight"], heads, axis=1)
    return effective_ranks([o @ v for o, v in zip(out, of_each_head(r, at, "v", heads))])


def nearest_word(r):
    rows = r.w["embed.weight"] / length(r.w["embed.weight"])[:, None]
    tokens = r["tokens"].astype(int)
    near = rows[tokens] @ rows.T
    np.put_along_axis(near, tokens[..., None], -np.inf, axis=-1)
    return best(near)


def calibration(r):
    sure, right = softmax(r["logits"]).max(axis=-1), best(r["logits"]) == r["targets"]
    there = r["targets"] >= 0
    sure, right = sure[there], right[there]
    which = np.minimum(np.floor(10 * sure), 9)
    apart(10 * sure, np.round(10 * sure), "bins: ")
    return sum(abs(sure[which == i].mean() - right[which == i].mean()) * (which == i).sum() for i in set(which)) / len(sure)


def line_loss(r):
    loss = r.answers(lambda b, p, t: -np.log(softmax(r["logits"][b, p])[t]))
    there = r["targets"] >= 0
    return np.array([row[seen].mean() for row, seen in zip(loss, there)])


def rollout(r):
    """Abnar & Zuidema 2020"""
    patterns = [r.t[name] for name in sorted(r.t) if name.startswith("blocks.") and name.endswith(".attn.pattern")]
    so_far = None
    for pattern in patterns:
        with_residual = pattern.mean(axis=1) + np.eye(pattern.shape[-1])
        with_residual = with_residual / with_residual.sum(axis=-1, keepdims=True)
        so_far = with_residual if so_far is None else with_residual @ so_far
    return so_far


def max_flow(capacities, source, sink):
    """Between two nodes of a graph, as an array of capacities [from, to]: along shortest ways (Edmonds & Karp 1972). The cut that is
    left proves that there is no larger one."""
    left, flow = capacities.copy(), 0.0
    while True:
        came, queue = {source: source}, [source]
        for node in queue:
            for other in np.nonzero(left[node] > 0)[0]:
                if other not in came:
                    came[other] = node
                    queue.append(other)
        if sink not in came:
            reached = np.isin(np.arange(len(left)), list(came))
            assert abs(capacities[reached][:, ~reached].sum() - flow) < 1e-12, (flow, "is no cut")
            return flow
        way, node = [], sink
        while node != source:
            way.append((came[node], node))
            node = came[node]
        room = min(left[edge] for edge in way)
        flow += room
        for a, b in way:
            left[a, b] -= room
            left[b, a] += room


def attention_flow(r):
    """Abnar & Zuidema 2020: the capacities are the patterns' mean over the heads, half and half with the residual connection."""
    patterns = [r.t[name] for name in sorted(r.t) if name.startswith("blocks.") and name.endswith(".attn.pattern")]
    batch, _, size, _ = patterns[0].shape
    flows = np.zeros((batch, size, size))
    for b in range(batch):
        graph = np.zeros((size * (len(patterns) + 1),) * 2)
        for i, pattern in enumerate(patterns):
            graph[(i + 1) * size:(i + 2) * size, i * size:(i + 1) * size] = 0.5 * pattern[b].mean(axis=0) + 0.5 * np.eye(size)
        for q, k in np.ndindex(size, size):
            flows[b, q, k] = max_flow(graph, len(patterns) * size + q, k)
    return flows


def fitted_map(d_model, block):
    """No good one, but one that test_ready_rows.cpp has as well: weight [out, in] and bias."""
    o, i = np.arange(d_model)[:, None], np.arange(d_model)[None, :]
    weight = np.eye(d_model) + 0.05 * np.cos(o * d_model + i + block)
    return weight.astype(np.float32).astype(float), (0.1 * np.sin(o[:, 0] + block)).astype(np.float32).astype(float)


def lens_apart(r, at, fitted):
    """KL(output ‖ lens) in bits, of the stream that leaves a block."""
    block, last = int(layer_of(at.split("_lens.")[1])), max(int(layer_of(name)) for name in r.t if name.startswith("blocks."))
    x = r[f"blocks.{block}.resid_post"]
    if fitted:
        if block == last or not any(name.startswith("fitted_lens.") for name in r.t):
            raise KeyError(at)
        weight, bias = fitted_map(x.shape[-1], block)
        x = x @ weight.T + bias
    if "norm.bias" in r.w:
        x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * r.w["norm.weight"] + r.w["norm.bias"]
    else:
        x = x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + 1e-5) * r.w["norm.weight"]
    q = x @ r.w["lm_head.weight"].T + r.w.get("lm_head.bias", 0.0)
    log_p, log_q = (z - log_sum_exp(z)[..., None] for z in (r["logits"], q))
    return np.sum(np.exp(log_p) * (log_p - log_q), axis=-1) / np.log(2)


# What each row says: (run, the part that it belongs to) -> numbers. "A" stands for an attention of a block.
ROWS = {
    "blocks.*.attn.entropy": lambda r, at: entropy(r[f"{at}.pattern"]),
    "blocks.*.attn.sharpness": lambda r, at: r[f"{at}.pattern"].max(axis=-1),
    "blocks.*.attn.similar_heads": lambda r, at: cosines(r[f"{at}.pattern"]),
    "blocks.*.attn.similar_results": lambda r, at: cosines(r[f"{at}.result"]),
    "blocks.*.attn.previous_token": lambda r, at: previous(r[f"{at}.pattern"]),
    "blocks.*.attn.first_token": lambda r, at: r[f"{at}.pattern"][..., 0],
    "blocks.*.attn.own_token": lambda r, at: np.diagonal(r[f"{at}.pattern"], axis1=2, axis2=3),
    "blocks.*.attn.distance": lambda r, at: distances(r[f"{at}.pattern"]),
    "blocks.*.attn.keys_of_95": lambda r, at: keys_of_95(r[f"{at}.pattern"]),
    "blocks.*.attn.mean_pattern": lambda r, at: r[f"{at}.pattern"].mean(axis=1),
    "blocks.*.attn.moves": lambda r, at: r[f"{at}.pattern"] * length(r[f"{at}.v"])[:, :, None, :],
    "blocks.*.attn.hidden_weight": lambda r, at: (r[f"{at}.pattern"] * (1 - r[f"{at}.mask"])).sum(axis=-1),
    "blocks.*.attn.ahead": lambda r, at: ahead(r[f"{at}.pattern"]),
    "blocks.*.attn.like_first_layer": lambda r, at: cosines(r[f"{at}.pattern"], r["blocks.0.attn.pattern"]),
    "blocks.*.attn.any_query": lambda r, at: causal_softmax(r[f"{at}.attn_scores"], r[f"{at}.mask"][:, :, -1:, :] != 0),
    "blocks.*.attn.dropped_sum": lambda r, at: r[f"{at}.pattern.dropped"].sum(axis=-1),
    "blocks.*.attn.received": lambda r, at: r[f"{at}.pattern"].sum(axis=2),
    "blocks.*.cross_attn.received": lambda r, at: r[f"{at}.pattern"].sum(axis=2),
    "blocks.*.cross_attn.aligned": lambda r, at: best(r[f"{at}.pattern"]),
    "blocks.*.attn.head_length": lambda r, at: length(r[f"{at}.z"]),
    "blocks.*.attn.query_length": lambda r, at: length(r[f"{at}.q"]),
    "blocks.*.attn.key_length": lambda r, at: length(r[f"{at}.k"]),
    "blocks.*.attn.score_spread": lambda r, at: np.ptp(r[f"{at}.attn_scores"], axis=-1),
    "blocks.*.update_share": lambda r, at: length(r[f"{at}.mlp_out"]) / length(r[f"{at}.resid_post"]),
    "blocks.*.attention_share": lambda r, at: length(r[f"{at}.attn_out"]) / length(r[f"{at}.resid_post"]),
    "blocks.*.attention_adds": lambda r, at: r.answers(lambda b, p, t: r[f"{at}.attn_out"][b, p] @ head_row(r, t)),
    "blocks.*.mlp_adds": lambda r, at: r.answers(lambda b, p, t: r[f"{at}.mlp_out"][b, p] @ head_row(r, t)),
    "blocks.*.stream_length": lambda r, at: length(r[f"{at}.resid_post"]),
    "blocks.*.stream_outlier": lambda r, at: np.abs(r[f"{at}.resid_post"]).max(axis=-1),
    "blocks.*.stream_outlier_at": lambda r, at: best(np.abs(r[f"{at}.resid_post"])),
    "alike_words": lambda r, at: cosines(r["embed"]),
    "candidates": lambda r, at: (softmax(r["logits"]) >= 0.01).sum(axis=-1),
    "blocks.*.position_cosine": lambda r, at: cosines(r[f"{at}.resid_post"]),
    "blocks.*.turned": lambda r, at: cosine(r[f"{at}.resid_pre"], r[f"{at}.resid_post"]),
    "blocks.*.mlp.dead_neurons": lambda r, at: (neurons(r, at) == 0).mean(axis=-1),
    "blocks.*.mlp.dead": lambda r, at: (np.abs(neurons(r, at)).max(axis=(0, 1)) == 0).mean(),
    "blocks.*.mlp.neuron_largest": lambda r, at: best(neurons(r, at)),
    "probabilities": lambda r, at: softmax(r["logits"]),
    "least_sure": lambda r, at: softmax(r["logits"]).max(axis=-1),
    "margin": lambda r, at: margin(r["logits"]),
    "second_guess": lambda r, at: second(r["logits"]),
    "prediction_entropy": lambda r, at: entropy(softmax(r["logits"])),
    "target_rank": lambda r, at: target_rank(r),
    "target_probability": lambda r, at: r.answers(lambda b, p, t: softmax(r["logits"][b, p])[t]),
    "target_loss": lambda r, at: r.answers(lambda b, p, t: -np.log(softmax(r["logits"][b, p])[t])),
    "blocks.*.mlp.neuron_writes": lambda r, at: neuron_writes(r, at.removesuffix(".mlp")),
    "answer_cosine": lambda r, at: r.answers(lambda b, p, t: cosine(r["ln_final.normalized"][b, p], head_row(r, t))),
    "answer_length": lambda r, at: r.answers(lambda b, p, t: length(head_row(r, t))),
    "answer_bias": lambda r, at: r.answers(lambda b, p, t: r.w["lm_head.bias"][t]),
    "blocks.*.answer_rank": lambda r, at: answer_rank(r, f"{at}.resid_post"),
    "blocks.*.answer_rank_mid": lambda r, at: answer_rank(r, f"{at}.resid_mid"),
    "blocks.*.moved": lambda r, at: length(r[f"{at}.resid_post"] - r.beside["base"][f"{at}.resid_post"]),
    "moved_logits": lambda r, at: r["logits"] - r.beside["base"]["logits"],
    "blocks.*.apart": lambda r, at: length(r[f"{at}.resid_post"] - r.beside["other"][f"{at}.resid_post"]),
    "blocks.*.attn.patterns_apart": lambda r, at: np.abs(r[f"{at}.pattern"] - r.beside["other"][f"{at}.pattern"]).sum(axis=-1) / 2,
    "predicts_otherwise": lambda r, at: (best(r["logits"]) != best(r.beside["other"]["logits"])).astype(float),
    "blocks.*.rounding": lambda r, at: relative_rounding(r[f"{at}.resid_post"], r.beside["exact"][f"{at}.resid_post"], 2.0**-8),
    "may_flip": lambda r, at: may_flip(r),
    "flipped": lambda r, at: (first_largest(r["logits"]) != best(r.beside["exact"]["logits"])).astype(float),
    "blocks.*.attn.vanished": lambda r, at: ((r[f"{at}.pattern"] == 0) & (r.beside["exact"][f"{at}.pattern"] > 0)).sum(axis=-1),
    "blocks.*.attn.overflowed": lambda r, at: (np.isinf(r[f"{at}.attn_scores"]) & np.isfinite(r.beside["exact"][f"{at}.attn_scores"])).sum(axis=-1),
    "blocks.*.stream_overflowed": lambda r, at: (~np.isfinite(r[f"{at}.resid_post"]) & np.isfinite(r.beside["exact"][f"{at}.resid_post"])).sum(axis=-1),
    "blocks.*.attention_along": lambda r, at: cosine(r[f"{at}.attn_out"], r[f"{at}.resid_pre"]),
    "blocks.*.mlp_along": lambda r, at: cosine(r[f"{at}.mlp_out"], r[f"{at}.resid_post"] - r[f"{at}.mlp_out"]),
    "blocks.*.norm_leaves": lambda r, at: length(r[f"{at}.attn_out"] / r[f"{at}.ln2.scale"]) / np.sqrt(r[f"{at}.attn_out"].shape[-1]),
    "blocks.*.attn.copies": copies,
    "blocks.*.attn.position_share": position_share,
    "blocks.*.attn.induction": induction,
    "blocks.*.attn.qk_rank": qk_rank,
    "blocks.*.attn.ov_rank": ov_rank,
    "nearest_word": lambda r, at: nearest_word(r),
    "calibration": lambda r, at: calibration(r),
    "line_loss": lambda r, at: line_loss(r),
    "blocks.*.attn.weight_times_gradient": lambda r, at: r[f"{at}.pattern"] * r[f"grad.{at}.pattern"],
    "perplexity": lambda r, at: np.exp(line_loss(r)),
    "alike_positions": lambda r, at: cosines(r["pos_embed"][None])[0],
    "blocks.*.attn.same_token": lambda r, at: same_token(r, r[f"{at}.pattern"]),
    "rollout": lambda r, at: rollout(r),
    "flow": lambda r, at: attention_flow(r),
    "logit_lens.blocks.*.kl": lambda r, at: lens_apart(r, at, False),
    "fitted_lens.blocks.*.kl_fitted": lambda r, at: lens_apart(r, at, True),
    "blocks.*.mlp.experts_flipped": lambda r, at: (r[f"{at}.expert"] != r.beside["exact"][f"{at}.expert"]).sum(axis=-1),
}


def second(logits):
    order = descending(logits)
    values = np.take_along_axis(logits, order, axis=-1)
    apart(values[..., 1], values[..., 2])
    return order[..., 1].astype(float)


def run_of(name):
    """Which of the runs a row is asked of."""
    if name in ("blocks.*.moved", "moved_logits", "blocks.*.apart", "blocks.*.attn.patterns_apart", "predicts_otherwise"):
        return "edited"
    if name.rsplit(".", 1)[-1] in ("rounding", "may_flip", "flipped", "vanished", "overflowed", "stream_overflowed", "experts_flipped"):
        return "bfloat16"
    if name.startswith("fitted_lens."):
        return "lens"
    if name.endswith("_times_gradient"):
        return "gradients"
    return "dropped" if name.endswith("dropped_sum") else "plain"


def recorded(program, model, folder, *options):
    out = str(Path(folder) / "run.safetensors")
    rows = [f"{name}_given = {name}" for name in INPUTS]
    while True:
        asked = [part for row in rows for part in ("--row", row)]
        done = subprocess.run([program, "trace", model, "--ask", "*", "--out", out, *asked, *options], capture_output=True,
                              text=True)
        if done.returncode == 0:
            break
        missing = next((row for row in rows if f" {row.split()[0]}," in done.stderr), None)
        if missing is None:
            raise SystemExit(done.stderr)
        rows.remove(missing)  # this model has no such input
    trace = safetensors_file.load(out)
    for row in rows:
        given = row.split(" = ")[0]
        trace[given.removesuffix("_given")] = trace.pop(given)
    return trace


def runs_of(program, model):
    weights = {name: np.asarray(value, dtype=np.float64) for name, value in
               safetensors_file.load(ROOT / "assets" / "models" / model / "model.safetensors").items()}
    config = json.loads((ROOT / "assets" / "models" / model / "config.json").read_text())
    if config.get("tie_word_embeddings"):
        weights.setdefault("lm_head.weight", weights["embed.weight"])
    with tempfile.TemporaryDirectory() as folder:
        edits = Path(folder) / "edits.json"
        edits.write_text(json.dumps([EDIT]))
        plain = Run(recorded(program, model, folder), weights)
        runs = {"plain": plain,
                "edited": Run(recorded(program, model, folder, "--edits", str(edits)), weights, base=plain, other=plain),
                "bfloat16": Run(recorded(program, model, folder, "--set", "arithmetic=bfloat16"), weights, exact=plain)}
        runs["gradients"] = Run(recorded(program, model, folder, "--gradients-of", "loss"), weights)
        lens, maps = Path(folder) / "lens.safetensors", {}
        for block in range(config["num_layers"] - 1):
            maps[f"blocks.{block}.weight"], maps[f"blocks.{block}.bias"] = fitted_map(config["d_model"], block)
        safetensors_file.save(lens, {key: np.ascontiguousarray(value, dtype=np.float32) for key, value in maps.items()})
        runs["lens"] = Run(recorded(program, model, folder, "--lens", str(lens)), weights)
        if config.get("dropout"):
            runs["dropped"] = Run(recorded(program, model, folder, "--dropout-seed", "1"), weights)
    return runs


def of_run(runs, name, beside=("", "")):
    """The row in every part that has what it reads, or beside another part: step -> numbers."""
    run = runs.get(run_of(name))
    if run is None:
        return {}
    part, star, _ = name.rpartition(".")
    part = part.replace(*beside) if beside[0] and name in ANYWHERE and part.startswith(beside[0]) else part
    blocks = sorted({key.split(".")[1] for key in run.t if key.startswith("blocks.")}, key=int)
    places = [part.replace("*", block) for block in blocks] if star else [""]
    found = {}
    for place in places:
        try:
            found[(place + "." if place else "") + name.rsplit(".", 1)[-1]] = np.asarray(ROWS[name](run, place), dtype=float)
        except KeyError:
            pass  # this model hasn't what the row reads
        except Close as close:
            raise SystemExit(f"{name} at {place}: {close}")
    return found


def stored(numbers):
    """[shape, Σ cos(i + 1) x_i, Σ sin(i + 1) x_i, Σ |x_i|]"""
    flat = numbers.reshape(-1)
    at = np.arange(1, flat.size + 1)
    sums = [float(f"{value:.9g}") for value in (np.cos(at) @ flat, np.sin(at) @ flat, np.abs(flat).sum())]
    return [list(numbers.shape), *sums]


def main(program):
    program = os.path.abspath(program)
    out = {}
    for model in MODELS:
        runs = runs_of(program, model)
        out[model] = {name: {step: stored(x) for step, x in of_run(runs, name).items()} for name in ROWS}
        for stage, parts in BESIDE.items() if model == "reverse" else ():
            out[f"reverse {stage}"] = {name: {step: stored(x) for step, x in of_run(runs, name, parts).items()}
                                       for name in ROWS if name in ANYWHERE and name.startswith(parts[0])
                                       and name.replace(*parts) not in ROWS}
        print(model, sum(len(steps) for steps in out[model].values()), "steps;",
              "without:", [name for name, steps in out[model].items() if not steps])
    lines = []
    for name in ROWS:
        found = {model: steps[name] for model, steps in out.items() if steps.get(name)}
        lines.append(f"  {json.dumps(name)}: {json.dumps({'run': run_of(name), **found})}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (HERE / "ready_rows.json").write_text(text)
    print(len(text), "bytes")


if __name__ == "__main__":
    main(sys.argv[1])
