"""Prints what recording costs: time and memory of a forward pass, plain and recorded, as docs/bisect.md has it.

Run with PyTorch:  OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/reference/bugs/recorder_cost.py
"""
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import time

import torch

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "assets" / "recorder")]

from gpt import Gpt  # noqa: E402
from record import record  # noqa: E402


def seconds(work, repeat=5):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    torch.set_num_threads(1)
    module = Gpt(width=256, heads=8, layers=6, vocabulary=1000, positions=256).eval()
    tokens = torch.randint(0, 1000, (1, 256))
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "trace.safetensors")

    def recorded(**options):
        with record(module, path, **options):
            module(tokens)

    with torch.no_grad():
        module(tokens)
        plain = seconds(lambda: module(tokens))
        plain_peak = peak()
        print("| what | time | relative to the plain pass | file | additional peak memory |\n| --- | --- | --- | --- | --- |")
        print("| plain | %.0f ms | 1 | | |" % (1000 * plain))
        for name, options in (("blocks alone (`modules=[\"h.?\"]`, no functions, no parameters)",
                               {"modules": ["h.?"], "functions": False, "parameters": False}),
                              ("modules (no functions, no parameters)", {"functions": False, "parameters": False}),
                              ("everything but parameters", {"parameters": False}),
                              ("everything", {}),
                              ("everything, in pieces of 4 MB", {"piece": 4 << 20})):
            spent = seconds(lambda: recorded(**options))
            print("| %s | %.0f ms | %.1f | %.1f MB | %.0f MB |" % (
                name, 1000 * spent, spent / plain, os.path.getsize(path) / 1e6, peak() - plain_peak))


if __name__ == "__main__":
    main()
