"""Time and memory per token against the length of the text, patterns recorded: python3 scale.py PROGRAM [--llama]
[--longest N] [--json FILE] > scale.svg

GPT-2-small's size with room for more positions, up to 4,096 tokens; with --llama a decoder of 1.2 billion parameters, too
(of the size of Llama 3.2 1B: 5 GB of random weights on disk, 12 GB of memory). The dashed line is what the mathematics
asks for: the multiply-adds of a token (work.py), drawn through the shortest text, and the bytes of a token's streams, scores
and patterns, through the two shortest. A step that grows faster leaves it. The time is that of the processor, with one thread:
other programs on the machine change it little. Progress and a table go to stderr.
"""

import argparse
import json
import os
import sys
import tempfile
from math import log2
from pathlib import Path

from against_torch import Ours
from cases import GPT2_SMALL, tokens
from chart import LINE, MUTED, text
from random_weights import random_weights, write_model
from work import operations

import torch

SHORTEST, LONGEST = 128, 4096
LLAMA_1B = {"d_model": 2048, "nhead": 32, "num_key_value_heads": 8, "num_layers": 16, "dim_feedforward": 8192,
            "norm": "rmsnorm", "norm_first": True, "final_norm": True, "activation": "silu", "gated_mlp": True,
            "bias": False, "vocab_size": 128256, "positional_encoding": "rope", "rope_theta": 500000.0, "lm_head": True,
            "tie_word_embeddings": True}
WIDTH, HEIGHT, LEFT, TOP = 380, 300, 64, 44
COLORS = ["#0072B2", "#D55E00"]


def measured(program, folder, config, length):
    ours = Ours(program, folder, tokens(length)(torch.Generator().manual_seed(1)))
    result, peak = ours.watched("--record", "patterns", "--repeat", 3 if length <= 2048 else 1)
    return {"tokens": length, "milliseconds": result["forward_cpu_ms"], "memory": peak - weight_bytes(folder),
            "operations": operations(config, inputs_of(length)), "patterns": pattern_bytes(config, length)}


def inputs_of(length):
    return {"tokens": torch.zeros(1, length)}


def memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def weight_bytes(folder):
    return (folder / "model.safetensors").stat().st_size


def pattern_bytes(config, length):
    return 4 * config["num_layers"] * config["nhead"] * length**2  # [layer, head, query, key], float32


def least_memory(folder, config, length):
    return weight_bytes(folder) + pattern_bytes(config, length)


def fits(folder, config, length):
    return least_memory(folder, config, length) < 0.7 * memory()


def series(program, scratch, name, config, longest):
    folder = scratch / name.replace(" ", "-")
    write_model(folder, config, random_weights(config))
    points, length = [], SHORTEST
    while length <= longest:
        if not fits(folder, config, length):
            print(f"{name}, {length} tokens: left out, weights and patterns alone take "
                  f"{least_memory(folder, config, length) / 1e9:.0f} GB of this machine's {memory() / 1e9:.0f}", file=sys.stderr,
                  flush=True)
            break
        p = measured(program, folder, config, length)
        points.append(p)
        print(f"{name}, {length} tokens: {p['milliseconds'] / length:.2f} ms and {p['memory'] / length / 1e6:.2f} MB "
              "a token beside the weights", file=sys.stderr, flush=True)
        length *= 2
    return points


def panel(left, title, unit, all_series, value, expected):
    """One plot: the value of a token of each series by the length, on two logarithmic axes. What is expected is drawn through the
    first point."""
    values = [value(p) for points in all_series.values() for p in points]
    lengths = [p["tokens"] for points in all_series.values() for p in points]
    low, high = log2(min(values)) - 0.3, log2(max(values)) + 0.5
    first, last = log2(min(lengths)), max(log2(max(lengths)), log2(min(lengths)) + 1)

    def at(length, y):
        return (left + LEFT + (log2(length) - first) / (last - first) * (WIDTH - LEFT - 30),
                TOP + 20 + (high - log2(y)) / (high - low) * (HEIGHT - TOP - 60))

    parts = [text(left + LEFT, TOP, title, weight="bold")]
    for length in sorted(set(lengths)):
        x, _ = at(length, values[0])
        parts.append(f'<path d="M {x:.1f} {TOP + 20} V {HEIGHT - 40}" stroke="{LINE}"/>')
        parts.append(text(x, HEIGHT - 22, f"{length:,}", "middle", MUTED))
    for color, points in zip(COLORS, all_series.values()):
        where = [at(p["tokens"], value(p)) for p in points]
        law = [at(p["tokens"], y) for p, y in zip(points, expected(points))]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in law)}" fill="none" stroke="{MUTED}" '
                     'stroke-dasharray="4 4"/>')
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in where)}" fill="none" stroke="{color}" '
                     'stroke-width="2"/>')
        for (x, y), p in zip(where, points):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>')
            parts.append(text(x, y - 7, f"{value(p):.3g}", "middle"))
    parts.append(text(left + LEFT, HEIGHT - 6, f"{unit}, by the tokens of the text", color=MUTED))
    return parts


def milliseconds_a_token(point):
    return point["milliseconds"] / point["tokens"]


def megabytes_a_token(point):
    return point["memory"] / point["tokens"] / 1e6


def as_the_operations(points):
    first = milliseconds_a_token(points[0]) / points[0]["operations"] * points[0]["tokens"]
    return [first * p["operations"] / p["tokens"] for p in points]


def as_the_patterns(points):
    patterns = [p["patterns"] / p["tokens"] / 1e6 for p in points]
    streams = megabytes_a_token(points[0]) - patterns[0]
    return [streams + own for own in patterns]


def drawn(all_series):
    parts = []
    for number, (color, name) in enumerate(zip(COLORS, all_series)):
        parts.append(text(LEFT + 220 * number, 20, name, color=color, weight="bold"))
    parts.append(text(LEFT + 220 * len(all_series), 20, "- - - the mathematics", color=MUTED))
    parts += panel(0, "Time", "ms of one core a token", all_series, milliseconds_a_token, as_the_operations)
    parts += panel(WIDTH, "Memory beside the weights", "MB a token", all_series, megabytes_a_token, as_the_patterns)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{HEIGHT}" viewBox="0 0 {2 * WIDTH} {HEIGHT}" '
            f'font-family="Inter, DejaVu Sans, sans-serif">\n<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="white"/>\n'
            + "\n".join(parts) + "\n</svg>")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--llama", action="store_true", help="a decoder of 1.2 billion parameters, too")
    parser.add_argument("--longest", type=int, default=LONGEST, help="tokens; at least 256")
    parser.add_argument("--json", help="writes the results there, too")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the programs that it starts have this core alone
    configs = {"GPT-2-small's size": {**GPT2_SMALL, "max_positions": LONGEST}}
    if options.llama:
        configs["Llama's of 1.2 billion"] = LLAMA_1B
    with tempfile.TemporaryDirectory() as folder:
        results = {name: series(options.program, Path(folder), name, config, options.longest)
                   for name, config in configs.items()}
    print(drawn(results))
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
