"""The recorded forward pass in WebAssembly beside the desktop program's, in turn, each on one and the same CPU:
python3 under_node.py PROGRAM "node DECODERSCOPE_NODE.js" [--rounds N]

PROGRAM is the desktop's; the second one is the command that starts the other, which scripts/browser.sh builds. The
decoders are those of cases.py and the bundled ones. Medians, and the ratio of the medians: how many times as long the
page takes, of which three times is wanted at most.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

import torch

from against_torch import random_weights, safetensors_file, write_model
from cases import CASES
from config import complete

BUNDLED = Path(__file__).resolve().parents[2] / "assets" / "models"
CPU = max(os.sched_getaffinity(0))
WANTED = 3.0


def forward_ms(program, model, repeat):
    command = [*shlex.split(program), "bench", *model, "--repeat", str(repeat), "--json"]
    said = subprocess.run(command, check=True, capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {CPU}))
    return json.loads(said.stdout)["forward_ms"]


def models(folder):
    """By name, what the programs are given: a folder, or also inputs."""
    for name in ("reverse", "dates", "induction", "verses"):
        yield name, [str(BUNDLED / name)]
    for name, (config, make_inputs, _) in CASES.items():
        if "token" in name and "16" not in name:  # larger ones wait for memory, not for products
            continue
        place = folder / name.replace(" ", "_").replace(",", "")
        write_model(place, config, random_weights(complete(config)))
        inputs = {key: x.numpy() for key, x in make_inputs(torch.Generator().manual_seed(0)).items()}
        safetensors_file.save(place / "inputs.safetensors", inputs)
        yield name, [str(place), "--inputs", str(place / "inputs.safetensors")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("other")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models(Path(folder)):
            repeat = 5 if "GPT-2" in name else 1000  # what is small is compiled well only after a while
            times = [(forward_ms(arguments.program, model, repeat), forward_ms(arguments.other, model, repeat))
                     for _ in range(arguments.rounds)]
            ours, theirs = (statistics.median(column) for column in zip(*times))
            ratio = theirs / ours
            print(f"{name:24} desktop {ours:9.3f} ms   page {theirs:9.3f} ms   {ratio:5.2f} "
                  f"{'' if ratio <= WANTED else f'(more than {WANTED})'}", flush=True)


if __name__ == "__main__":
    main()
