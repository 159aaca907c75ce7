"""Writes everything under fixtures/ and the coverage table in README.md, after checking the reference decoder.

    python3 make_fixtures.py [NAME …]

Writes all of them, or only those that are named. All are checked either way.
Deterministic: all numbers come from hashes, and torch runs on one thread. Another processor or another build of torch
may round differently in the last bits.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import torch

import crosscheck
import models
import rng
import safetensors_file
import small
import today
from config import DEFAULTS, REQUIRED, complete

HERE = Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"
LIMIT = 7_800_000  # bytes of all fixtures
ROUNDING = ("arithmetic", "norm_cast", "router_float32", "logits_float32")  # in rounding/


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_edits(path, edits):
    """A line an edit."""
    path.write_text("[\n" + ",\n".join("  " + json.dumps(edit) for edit in edits) + "\n]\n", encoding="utf-8")


def write_case(case):
    folder = FIXTURES / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", {"model_type": "decoderscope", **case.config})
    safetensors_file.save(folder / "inputs.safetensors", case.inputs)
    if case.weights_seed is None:
        safetensors_file.save(folder / "model.safetensors", case.weights)
    if case.edits:
        write_edits(folder / "edits.json", case.edits)
    if case.run_json():
        write_json(folder / "run.json", case.run_json())
    trace = {name: tensor.numpy() for name, tensor in case.run().items()}
    safetensors_file.save(folder / "expected.safetensors", trace)
    read_back = safetensors_file.load(folder / "expected.safetensors")
    assert list(read_back) == list(trace)
    assert all(np.array_equal(read_back[name], trace[name], equal_nan=True) for name in trace)


def write_rng():
    """First numbers of a few streams, some far out, and logarithms. JSON's numbers are written so that they read back
    exactly; whole numbers of 64 bits are strings."""
    streams = []
    for seed, name in ((0, "x"), (1, "tokens"), (2, "layers.3.cross_attn.q_proj.weight"), (0, ""), (2**63 + 5, "ключ"),
                       (2**64 - 1, "blocks.0.attn.pattern.dropout_mask")):
        index = [*range(8), 1000, 2**32, 2**40 + 1]
        stream = rng.RandomStream(seed, name)
        streams.append({
            "seed": str(seed), "name": name, "index": index, "bits": [str(bits) for bits in stream.bits(index)],
            "uniform": stream.uniform(index).tolist(), "normal": stream.normal(index).tolist(),
        })
    xs = [1.0, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0), 0.5, 2.0, math.sqrt(0.5), math.sqrt(2.0), 0.7, 10.0,
          math.e, 1e-3, 2.0**-53, 1e-17, 1e300, 2.2250738585072014e-308, 5e-324]
    logs = [float(rng.portable_log(x)) for x in xs]
    assert all(math.isclose(log, math.log(x), rel_tol=1e-15, abs_tol=1e-16) for x, log in zip(xs, logs))
    lines = ",\n".join("    " + json.dumps(stream, ensure_ascii=False) for stream in streams)
    pairs = ",\n".join("    " + json.dumps({"x": x, "ln": log}) for x, log in zip(xs, logs))
    text = f'{{\n  "streams": [\n{lines}\n  ],\n  "portable_log": [\n{pairs}\n  ]\n}}\n'
    (FIXTURES / "rng.json").write_text(text, encoding="utf-8")


def tables(cases):
    """The README's two tables: what each fixture is about, and which ones give a key a value of their own."""
    rows = ["| fixture | what it covers |", "| --- | --- |"]
    rows += [f"| `{case.name}` | {case.about} |" for case in cases]
    rows += ["", "| key | fixtures with a value other than the default |", "| --- | --- |"]
    for key in DEFAULTS:
        if key in ROUNDING:
            continue
        default = {case.name: complete({k: v for k, v in case.config.items() if k != key})[key] for case in cases}
        users = {}
        for case in cases:
            value = complete(case.config)[key]
            if value != default[case.name]:
                users.setdefault(json.dumps(value), []).append(case.name)
        assert users, f"no fixture uses {key}"
        shown = "; ".join(f"{value}: {few(names)}" for value, names in users.items())
        rows.append(f"| `{key}` | {shown} |")
    return rows


def few(names):
    """Up to four names; the table is there to find a fixture, not to list all of them."""
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(f"`{name}`" for name in names[:4]) + more


def write_tables(cases):
    readme = HERE / "README.md"
    begin, end = "<!-- tables: written by make_fixtures.py -->", "<!-- end of tables -->"
    before, rest = readme.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    readme.write_text("\n".join([before + begin, "", *tables(cases), "", end]) + after, encoding="utf-8")


def main(wanted):
    torch.set_num_threads(1)
    cases = models.cases() + list(small.cases()) + list(today.cases())
    assert len({case.name for case in cases}) == len(cases)
    assert all(set(REQUIRED) <= set(case.config) for case in cases)
    crosscheck.check(cases)
    assert set(wanted) <= {case.name for case in cases}, wanted
    if not wanted and FIXTURES.exists():
        shutil.rmtree(FIXTURES)
    for case in cases:
        if not wanted or case.name in wanted:
            write_case(case)
    if not wanted:
        write_rng()
    write_tables(cases)
    size = sum(path.stat().st_size for path in FIXTURES.rglob("*") if path.is_file())
    assert size <= LIMIT, size
    print(f"{len(cases)} fixtures, {size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
