"""The notation of about.json's "map", applied: their tensors become ours.

"their name": "our name", or "our name, how" where the tensor isn't stored as the contract has it, or a list of such,
where it is several of ours. Axes of size 1 don't count: [1, pos, d_model] is [pos, d_model].

| how | meaning |
| --- | --- |
| transposed | [in, out] instead of [out, in] |
| a name with {q,k,v} or {gate,up} | the rows of all of them, one after the other |
| … {q,k,v} …, by head | the rows of head 0's q, k and v, then of head 1's, … |
| … {q,k,v} …, by group | the rows of group 0's queries, of its k and its v, then of group 1's |
| … {k_up,v_up} …, by head | the rows of head 0's k and v, then of head 1's (latent attention) |
| expert 2 | one expert's matrix |
| … {gate,up} …, of each expert | [expert, gate's rows and up's, in] |
| … {gate,up} …, of each expert, in turn | the gate's and up's rows in turn; transposed: [expert, in, …] |
| halves swapped | in each head, the rows of its second half come first (RoPE that turns the other way) |
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
    if "{gate,up}" in target and "of each expert" in how:
        rows = [value[:, i::2] for i in range(2)] if "in turn" in how else np.split(value, 2, axis=1)
        return dict(zip([name for name, _ in parts], rows))
    if "{k_up,v_up}" in target:
        keys = width - config["qk_rope_head_dim"]
        heads = value.reshape(config["nhead"], -1, *value.shape[1:])
        rows = heads[:, :keys], heads[:, keys:]
        return {name: part.reshape(-1, *value.shape[1:]) for (name, _), part in zip(parts, rows)}
    if how == "by group":
        groups = value.reshape(parts[1][1], -1, width, *value.shape[1:])
        rows = groups[:, :-2], groups[:, -2], groups[:, -1]
        return {name: part.reshape(-1, *value.shape[1:]) for (name, _), part in zip(parts, rows)}
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
    ours, heads, experts = {}, {}, {}

    def put(name, value):
        assert name not in ours, f"{name} twice"
        ours[name] = np.ascontiguousarray(value, dtype=np.float32)

    for theirs, targets in mapping.items():
        for text in [targets] if isinstance(targets, str) else targets:
            target, _, how = text.partition(", ")
            value = stored[theirs]
            if how.startswith("transposed"):
                value = value.T
            elif "of each expert" in how:
                value = value.swapaxes(1, 2) if "transposed" in how and value.ndim == 3 else value
            elif how == "halves swapped":
                halves = value.reshape(-1, 2, d_head(config) // 2, *value.shape[1:])
                value = halves[:, ::-1].reshape(value.shape)
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
            elif how.startswith("expert "):
                experts.setdefault(target, {})[int(how[7:])] = value
                continue
            elif how not in ("", "by head", "by group"):
                raise ValueError(text)
            if "{" in target:
                for name, part in separate(target, how, value, config).items():
                    put(name, part)
            else:
                if how == "" and value.ndim > 0 and ".experts." not in target and "shared_gate" not in target:
                    value = value.squeeze(tuple(axis for axis in range(value.ndim - 1) if value.shape[axis] == 1))
                put(target, value)
    for name, parts in heads.items():
        put(name, np.concatenate([parts[head] for head in range(len(parts))]))
    for name, parts in experts.items():
        put(name, np.stack([parts[expert] for expert in range(len(parts))]))
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
        norm = "norm" in name.split(".")[-2] if "." in name else False
        within = name.endswith(("q_norm.weight", "k_norm.weight", "_down_norm.weight"))
        wanted = norm_bias and not within if norm else "_proj." in name or name.endswith("router.weight")
        if name.endswith(".weight") and wanted and bias not in weights:
            added[bias] = np.zeros(value.shape[:-1] if not norm else value.shape[0], np.float32)
    return {**weights, **added}
