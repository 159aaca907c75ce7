#!/usr/bin/env python3
"""Runs every reference configuration through a program and compares each tensor, by name, with PyTorch's, as
tests/engine/test_parity.cpp does: compare_fixtures.py FIXTURES WORK PROGRAM [ARGUMENT ...]

A tensor may be off by 1e-5 of its largest number, at least of 1. Fills such as -1e20 don't count for that. Status 1 where one is
off by more, is missing, or has another shape."""
import array
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

TOLERANCE, FILL = 1e-5, 1e4


def tensors_of(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        found[name] = entry["dtype"], entry["shape"], data[8 + length + begin : 8 + length + end]
    return found


def difference(ours, theirs):
    if ours == theirs:
        return 0.0
    ours, theirs = array.array("f", ours), array.array("f", theirs)
    scale = max([1.0] + [abs(value) for value in theirs if math.isfinite(value) and abs(value) < FILL])
    worst = 0.0
    for a, b in zip(ours, theirs):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        worst = max(worst, abs(a - b) / (scale if abs(b) < FILL else abs(b)))
    return worst


def trace(program, folder, run, out):
    arguments = [*program, "trace", folder, "--inputs", os.path.join(folder, "inputs.safetensors"), "--out", out]
    if os.path.exists(os.path.join(folder, "edits.json")):
        arguments += ["--edits", os.path.join(folder, "edits.json")]
    if "dropout_seed" in run:
        arguments += ["--dropout-seed", str(run["dropout_seed"])]
    # Into a file: what Windows starts beside the program would hold a pipe open for seconds.
    with tempfile.TemporaryFile("w+") as said:
        status = subprocess.run(arguments, stdout=said, stderr=said).returncode
        said.seek(0)
        return said.read().strip() or f"status {status}" if status else ""


def main(fixtures, work, *program):
    compared, same_bits, left_out, worst, worst_at, failed = 0, 0, 0, 0.0, "", 0
    for name in sorted(os.listdir(fixtures)):
        folder = os.path.join(fixtures, name)
        if not os.path.exists(os.path.join(folder, "model.safetensors")):
            left_out += os.path.isdir(folder)  # its weights come from a seed, which only the tests make
            continue
        run_file = os.path.join(folder, "run.json")
        run = json.load(open(run_file)) if os.path.exists(run_file) else {}
        out = os.path.join(work, "trace.safetensors")
        if said := trace(program, folder, run, out):
            print(f"{name}: {said}")
            failed += 1
            continue
        ours, theirs = tensors_of(out), tensors_of(os.path.join(folder, "expected.safetensors"))
        for tensor, (kind, shape, data) in theirs.items():
            if tensor not in ours and run.get("asked"):
                continue  # made where the test asks for it
            off = math.inf
            if tensor in ours and ours[tensor][:2] == (kind, shape):
                off = difference(ours[tensor][2], data)
                same_bits += ours[tensor][2] == data
            compared += 1
            if off > worst:
                worst, worst_at = off, f"{name}: {tensor}"
            if off > TOLERANCE:
                print(f"{name}: {tensor}: off by {off:.3g}")
                failed += 1
    print(f"{compared} tensors, {same_bits} with the same bits; the largest difference is {worst:.3g} of the scale, at {worst_at}; "
          f"{left_out} configurations left out")
    return 1 if failed or not compared else 0


sys.exit(main(*sys.argv[1:]))
