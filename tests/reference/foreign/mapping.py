"""The notation of about.json's "map", applied: their tensors become ours.

"their name": "our name", or "our name, how" where the tensor isn't stored as the contract has it, or a list of such,
where it is several of ours. Axes of size 1 don't count: [1, pos, d_model] is [pos, d_model].

| how | meaning |
| --- | --- |
| transposed | [in, out] instead of [out, in] |
| a name with {q,k,v} or {gate,up} | the rows of all of them, one after the other |
| … {q,k,v} …, by head | the rows of head 0's q, k and v, then of head 1's, … |
| head 2 | the rows of head 2 |
| a matrix per head | q, k, v: [head, d_model, d_head], o: [head, d_head, d_model], biases: [head, d_head] |
| for every head | [d_head, d_head], the same for each head's own columns |
| rows from 2 | without the first two rows |
| repeated | one number for all of them |
"""

import re

import numpy as np

from parts import sinusoidal, sinusoidal_halves


def d_head(config):
    return config.get("head_dim") or config["d_model"] // config["nhead"]


def projections(target, config):
    """The names that a name with {q,k,v} stands for, each with its number of heads."""
    braces = re.search(r"\{(.*?)\}", target)
    letters = braces.group(1).split(",")
    kv = config.get("num_key_value_heads", config["nhead"])
    names = [target[:braces.start()] + letter + target[braces.end():] for letter in letters]
    return [(name, config["nhead"] if letter == "q" else kv) for name, letter in zip(names, letters)]


def separate(target, how, value, config):
    """A fused tensor's parts under their names."""
    parts, width = projections(target, config), d_head(config)
    if "{gate,up}" in target:
        return dict(zip([name for name, _ in parts], np.split(value, len(parts))))
    if how == "by head":
        heads = value.reshape(config["nhead"], len(parts), width, *value.shape[1:])
        return {name: heads[:, i].reshape(-1, *value.shape[1:]) for i, (name, _) in enumerate(parts)}
    ends = np.cumsum([heads * width for _, heads in parts])
    assert ends[-1] == len(value), (target, value.shape)
    return dict(zip([name for name, _ in parts], np.split(value, ends[:-1])))


def per_head(target, value):
    if target.endswith(".bias"):
        return value.reshape(-1)
    if ".o_proj." in target:
        return value.reshape(-1, value.shape[-1]).T
    return value.transpose(0, 2, 1).reshape(-1, value.shape[1])


def for_every_head(value, config):
    return np.kron(np.eye(config["nhead"], dtype=value.dtype), value) if value.ndim == 2 else np.tile(value,
                                                                                                      config["nhead"])


def our_weights(stored, mapping, config, made=None):
    """Canonical names -> float32 arrays."""
    ours, heads = {}, {}

    def put(name, value):
        assert name not in ours, f"{name} twice"
        ours[name] = np.ascontiguousarray(value, dtype=np.float32)

    for theirs, targets in mapping.items():
        for text in [targets] if isinstance(targets, str) else targets:
            target, _, how = text.partition(", ")
            value = stored[theirs]
            if how.startswith("transposed"):
                value = value.T
            elif how == "a matrix per head":
                value = per_head(target, value)
            elif how == "for every head":
                value = for_every_head(value, config)
            elif how.startswith("rows from"):
                value = value[int(how.split()[-1]):]
            elif how == "repeated":
                value = np.full(config["d_model"], value.item())
            elif how.startswith("head "):
                heads.setdefault(target, {})[int(how[5:])] = value
                continue
            elif how not in ("", "by head"):
                raise ValueError(text)
            if "{" in target:
                for name, part in separate(target, how, value, config).items():
                    put(name, part)
            else:
                if how == "" and value.ndim > 0:
                    value = value.squeeze(tuple(axis for axis in range(value.ndim - 1) if value.shape[axis] == 1))
                put(target, value)
    for name, parts in heads.items():
        put(name, np.concatenate([parts[head] for head in range(len(parts))]))
    for name, (formula, shape) in (made or {}).items():
        put(name, {"sinusoidal": sinusoidal, "sinusoidal_halves": sinusoidal_halves}[formula](*shape).numpy())
    return ours


def with_zero_biases(weights, config):
    """Where a configuration has biases and the module has none: zeros. (The head has one where it is stored.)"""
    if not config.get("bias", True):
        return weights
    norm_bias = config.get("norm", "layernorm").startswith("layernorm")
    added = {}
    for name, value in weights.items():
        bias = name.removesuffix(".weight") + ".bias"
        norm = "norm" in name.split(".")[-2]
        wanted = norm_bias and not name.endswith(("q_norm.weight", "k_norm.weight")) if norm else "_proj." in name
        if name.endswith(".weight") and wanted and bias not in weights:
            added[bias] = np.zeros(value.shape[0], np.float32)
    return {**weights, **added}
