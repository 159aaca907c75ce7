"""Measures attention patterns with PyTorch, for the Heads tab: tabs_heads.json.

Reads the patterns of the bundled models' fixtures, which PyTorch computed, and measures them in PyTorch's own words. A row
that is padding or NaN is left out; a measure without any row is null. Run: python3 tests/reference/tabs_heads.py
"""

import json
import math
from pathlib import Path

import torch

import safetensors_file

HERE = Path(__file__).parent
MODELS = ["causal-lm-as-meant", "simple-decoder", "pre-ln-layer", "post-ln-encdec"]


def mean(values):
    return values.double().mean().item() if values.numel() else None


def measures(pattern, mask, rows):
    """Of one head's pattern [query, key]; `rows` are the queries that count."""
    queries, keys = pattern.shape
    entropy = torch.distributions.Categorical(probs=pattern[rows], validate_args=False).entropy() / math.log(2)
    seen = mask[rows].sum(-1)
    several = seen > 1
    steps_back = torch.diagonal(pattern, offset=-1)
    back = [row - 1 for row in rows if 1 <= row <= keys]
    own = [row for row in rows if row < keys]
    return [
        mean(entropy),
        mean(entropy[several] / torch.log2(seen[several])),
        mean(pattern[rows].max(-1).values) if rows else None,
        mean(steps_back[back]),
        mean(pattern[rows, 0]),
        mean(torch.diagonal(pattern)[own]),
    ]


def main():
    out = {}
    for model in MODELS:
        folder = HERE / "fixtures" / model
        trace = {name: torch.from_numpy(t) for name, t in safetensors_file.load(folder / "expected.safetensors").items()}
        inputs = {name: torch.from_numpy(t) for name, t in safetensors_file.load(folder / "inputs.safetensors").items()}
        out[model] = {}
        for name, pattern in trace.items():
            if not name.endswith("attn.pattern"):
                continue
            attention = name.removesuffix(".pattern")
            kept = inputs.get("encoder_attention_mask" if name.startswith("encoder") else "attention_mask")
            for batch, heads in enumerate(pattern):
                for head, weights in enumerate(heads):
                    real = [q for q in range(weights.shape[0]) if kept is None or kept[batch, q] != 0]
                    rows = [q for q in real if not weights[q].isnan().any()]
                    mask = trace[attention + ".mask"][batch, head]
                    out[model][f"{attention}[{batch}, {head}]"] = measures(weights, mask, rows)
    lines = []
    for model, heads in out.items():
        rows = ",\n".join(f"  {json.dumps(head)}: {json.dumps(values)}" for head, values in heads.items())
        lines.append(f" {json.dumps(model)}: {{\n{rows}\n }}")
    (HERE / "tabs_heads.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
