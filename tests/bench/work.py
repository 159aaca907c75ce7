"""What a forward pass takes at least: its multiply-adds, and the bytes of weights that it reads."""

import math

from config import complete, parameters


def target_size(inputs):
    """The batch and the positions of the decoder's input."""
    target = inputs["x"] if "x" in inputs else inputs["tokens"]
    return target.shape[0], target.shape[1]


def rows_of(name, inputs):
    """How many rows a Linear of that name is applied to."""
    memory = inputs.get("memory")
    if memory is not None and ("cross_attn.k_proj" in name or "cross_attn.v_proj" in name):
        return memory.shape[0] * memory.shape[1]
    batch, queries = target_size(inputs)
    return batch * queries


def operations(config, inputs):
    """Of the matrix products; a multiply-add counts as two. Scores that the causal mask hides are not needed."""
    c = complete(config)
    total = 0
    for name, shape, kind, _ in parameters(config):
        if kind == "linear" and len(shape) == 2:
            total += 2 * shape[0] * shape[1] * rows_of(name, inputs)
    if c["tie_word_embeddings"]:
        total += 2 * c["vocab_size"] * c["d_model"] * rows_of("lm_head.weight", inputs)
    batch, queries = target_size(inputs)
    pairs = queries * (queries + 1) / 2
    if c["cross_attention"]:
        pairs += queries * inputs["memory"].shape[1]
    return total + 2 * 2 * c["num_layers"] * batch * pairs * c["d_model"]


def weight_bytes(config):
    """Of all that every pass reads: all but tables of which it reads rows."""
    c = complete(config)
    total = 0
    for name, shape, kind, _ in parameters(config):
        if kind != "embedding" or (name == "embed.weight" and c["tie_word_embeddings"]):
            total += 4 * math.prod(shape)
    return total


def least_milliseconds(config, inputs, recorded_bytes, peak):
    """At the processor's peak: the products, or the reading of weights and writing of the trace, whichever takes longer."""
    computing = operations(config, inputs) / (1e6 * peak["gflops"])
    moving = (weight_bytes(config) + recorded_bytes) / (1e6 * peak["gigabytes_per_second"])
    return max(computing, moving)
