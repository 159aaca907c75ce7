#!/usr/bin/env python3
"""What PyTorch measures between two tensors: writes tabs_diff.json, which tests/core/compare/test_comparison.cpp is held to.

    OPENBLAS_NUM_THREADS=1 python3 tabs_diff.py
"""
import json
import pathlib

import torch

SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def pair(seed, shape, noise, special=()):
    """Two tensors that lie `noise` apart, and numbers that are not finite at some places: (offset, in a, in b)."""
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(shape, generator=generator)
    b = a + noise * torch.randn(shape, generator=generator)
    for offset, in_a, in_b in special:
        a.view(-1)[offset], b.view(-1)[offset] = SPECIAL[in_a], SPECIAL[in_b]
    return a, b


def numbers(tensor):
    """Floats as JSON holds them; what JSON has no number for as text."""
    texts = {"nan": "nan", "inf": "inf", "-inf": "-inf"}
    return [texts.get(str(v), v) for v in tensor.reshape(-1).tolist()]


def measures(a, b, tolerance):
    """In double precision; equal infinities and NaNs lie 0 apart, as torch.isclose(…, equal_nan=True) has it."""
    distance = (a.double() - b.double()).abs()
    distance[torch.isclose(a, b, rtol=0, atol=0, equal_nan=True)] = 0
    distance[distance.isnan()] = float("inf")
    close = torch.isclose(a.double(), b.double(), rtol=0, atol=tolerance, equal_nan=True)
    flat = int(distance.argmax())
    cell = []
    for size in reversed(a.shape):
        cell.insert(0, flat % size)
        flat //= size
    finite = torch.cat([a[a.isfinite()], b[b.isfinite()]])
    return {
        "largest": numbers(distance.max())[0],
        "mean": numbers(distance.mean())[0],
        "scale": float(finite.abs().max()),
        "over": int((~close).sum()),
        "cell": cell,
        "allclose": bool(torch.allclose(a.double(), b.double(), rtol=0, atol=tolerance, equal_nan=True)),
    }


def main():
    cases = []
    for seed, shape, noise, tolerance, special in [
        (1, (2, 3, 4), 0.1, 0.05, ()),
        (2, (7,), 1e-6, 1e-6, ()),
        (3, (2, 2, 3, 3), 0.0, 0.0, ()),
        (4, (3, 5), 1e-3, 1e-2, [(0, "nan", "nan"), (3, "-inf", "-inf"), (8, "inf", "inf")]),
        (5, (3, 5), 1e-3, 1e-2, [(4, "inf", "-inf"), (9, "nan", "inf")]),
        (6, (4, 1), 1e-3, 1e-3, [(2, "nan", "nan")]),
    ]:
        a, b = pair(seed, shape, noise, special)
        cases.append({"shape": list(shape), "tolerance": tolerance, "a": numbers(a), "b": numbers(b), **measures(a, b, tolerance)})
    path = pathlib.Path(__file__).with_name("tabs_diff.json")
    path.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
