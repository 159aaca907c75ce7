"""A step of training, Decoderscope and PyTorch in turn: python3 train_step.py PROGRAM [--rounds N] [--steps N]

The model of the three runs: a decoder of 6 layers, d_model 32, on batches of 64. Both begin with the same weights and read
the same batches, and their losses must agree before anything is timed. PyTorch runs eagerly, with one product for q, k and
v and its fastest Adam, with the fastest of OpenBLAS' kernels, in one thread and in all; the faster counts. Medians, and
their ratio; below 1 is in our favour.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import best_blas

BLAS = best_blas.use_fastest()  # starts anew: OpenBLAS reads its choice once, when it is loaded
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reference"))

import numpy as np
import torch
import torch.nn.functional as F

import rng
import safetensors_file

best_blas.check_products()

CONFIG = {"d_model": 32, "nhead": 4, "num_layers": 6, "dim_feedforward": 128, "norm_first": True, "final_norm": True,
          "vocab_size": 29, "positional_encoding": "sinusoidal", "lm_head": True}
LR, BETAS, EPS, BATCH, LENGTH = 1e-2, (0.9, 0.98), 1e-9, 64, 14


def sinusoidal(length, width):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class Network:
    """The same decoder; q, k and v are one product."""

    def __init__(self, weights):
        self.w = {}
        for name, value in weights.items():
            if "k_proj" in name or "v_proj" in name:
                continue
            if "q_proj" in name:
                value = np.concatenate([weights[name.replace("q_proj", part)] for part in ("q_proj", "k_proj", "v_proj")])
            self.w[name] = torch.tensor(value, requires_grad=True)
        self.positions = sinusoidal(LENGTH, CONFIG["d_model"])
        self.mask = torch.full((LENGTH, LENGTH), float("-inf")).triu(1)

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(x, (CONFIG["d_model"],), self.w[name + ".weight"], self.w[name + ".bias"])

    def loss(self, tokens, targets):
        heads, width = CONFIG["nhead"], CONFIG["d_model"] // CONFIG["nhead"]
        x = F.embedding(tokens, self.w["embed.weight"]) + self.positions
        for layer in range(CONFIG["num_layers"]):
            at = f"layers.{layer}."
            q, k, v = self.linear(self.norm(x, at + "norm1"), at + "self_attn.q_proj").view(
                BATCH, LENGTH, 3, heads, width).permute(2, 0, 3, 1, 4)
            pattern = torch.softmax(q @ k.transpose(-1, -2) * width ** -0.5 + self.mask, -1)
            x = x + self.linear((pattern @ v).transpose(1, 2).flatten(2), at + "self_attn.o_proj")
            x = x + self.linear(F.relu(self.linear(self.norm(x, at + "norm2"), at + "up_proj")), at + "down_proj")
        logits = self.linear(self.norm(x, "norm"), "lm_head")
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def torch_steps(weights, data, threads):
    """Losses, and milliseconds of each step."""
    torch.set_num_threads(threads)
    network = Network(weights)
    optimizer = torch.optim.Adam(network.w.values(), lr=LR, betas=BETAS, eps=EPS, foreach=True)
    tokens, targets = (torch.as_tensor(data[name]) for name in ("tokens", "targets"))
    losses, took = [], []
    for step in range(len(tokens)):
        start = time.perf_counter()
        loss = network.loss(tokens[step], targets[step])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        took.append((time.perf_counter() - start) * 1e3)
    return losses, took


def our_steps(program, folder, steps):
    """The same; a step's line is printed when it is done."""
    command = [program, "train", str(folder), "--data", str(folder / "data.safetensors"), "--steps", str(steps), "--lr",
               str(LR), "--betas", ",".join(map(str, BETAS)), "--eps", str(EPS), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    losses, moments = [], []
    for line in process.stdout:
        moments.append(time.perf_counter())
        losses.append(json.loads(line)["loss"])
    assert process.wait() == 0
    return losses, [(after - before) * 1e3 for before, after in zip(moments, moments[1:])]


def write_task(folder, steps):
    """Model and batches into files, and what they hold."""
    weights = rng.initial_weights(CONFIG, 1)
    shape = (steps, BATCH, LENGTH)
    data = {"tokens": rng.integers(1, "tokens", shape, CONFIG["vocab_size"]),
            "targets": rng.integers(1, "targets", shape, CONFIG["vocab_size"])}
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "decoderscope", **CONFIG}))
    safetensors_file.save(folder / "model.safetensors", weights)
    safetensors_file.save(folder / "data.safetensors", data)
    return weights, data


def measure_step(program, folder, rounds, steps):
    """Milliseconds of a step by each, medians: "ours", and of PyTorch by the number of its threads."""
    weights, data = write_task(folder, steps)
    before = torch.get_num_threads()
    theirs, ours = torch_steps(weights, data, 1)[0], our_steps(program, folder, steps)[0]
    assert np.allclose(ours[:10], theirs[:10], rtol=1e-3), (ours[:10], theirs[:10])
    times = {"ours": [], **{n: [] for n in sorted({1, os.cpu_count()})}}
    for _ in range(rounds):
        for who, took in times.items():
            took += our_steps(program, folder, steps)[1] if who == "ours" else torch_steps(weights, data, who)[1]
    torch.set_num_threads(before)
    return {who: statistics.median(took) for who, took in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__} with {best_blas.described(BLAS)}\n")
    with tempfile.TemporaryDirectory() as place:
        medians = measure_step(options.program, Path(place), options.rounds, options.steps)
    ours = medians.pop("ours")
    print(f"ours: {ours:.2f} ms a step")
    for threads, median in medians.items():
        print(f"PyTorch, threads: {threads}: {median:.2f} ms a step")
    print(f"ratio: {ours / min(medians.values()):.2f}")


if __name__ == "__main__":
    main()
