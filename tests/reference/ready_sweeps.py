"""Every sweep of assets/tables/sweeps.json in float64, by the reference decoder, for three models; writes ready_sweeps.json.

    python3 ready_sweeps.py PROGRAM

PROGRAM only gives the models' example tokens and, for sweeps of a training, the weights that it begins with. Each run of a
sweep is a forward pass of decoder.py, changed as the sweep says. What is stored of a sweep: how many runs there are, how many
predictions change in those in which some do, by their numbers, the runs of which that can't be said (two logits are too close,
or the weights are trained), and, if a row is watched, its numbers in the other runs as two sums (ready_rows.py), or the numbers
that are sought. Of texts that are drawn only the count is stored, and of gradients the largest of each weight, by its name.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

import decoder
import safetensors_file
from case import Case
from config import complete
from make_gradients import Differentiable
from ready_rows import MODELS, ROOT, recorded, softmax, stored

HERE = Path(__file__).resolve().parent
CLOSE = 1e-4  # logits nearer than this may change their order by rounding
ATTENTION, BATCH, HEAD = "blocks.0.attn", 0, 0  # what is on the stage


class Model:
    def __init__(self, program, name):
        folder = ROOT / "assets" / "models" / name
        self.program, self.name, self.folder = program, name, folder
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = self.read(folder)
        vocabulary = json.loads((folder / "vocabulary.json").read_text())
        self.special = {vocabulary["tokens"].index(word) for word in ("<pad>", "<bos>", "<eos>") if word in vocabulary["tokens"]}
        with tempfile.TemporaryDirectory() as out:
            trace = recorded(program, name, out)
        self.inputs = {key: torch.as_tensor(np.asarray(trace[key]).astype(np.int64)) for key in
                       ("tokens", "attention_mask", "encoder_tokens", "encoder_attention_mask") if key in trace}
        self.plain = self.run()

    @staticmethod
    def read(folder):
        return {key: torch.as_tensor(np.asarray(value, dtype=np.float64)) for key, value in
                safetensors_file.load(folder / "model.safetensors").items()}

    def run(self, weights=None, config=None, edits=(), inputs=None, dropout_seed=None):
        return decoder.run({**self.config, **(config or {})}, weights or self.weights, inputs or self.inputs, edits, dropout_seed)

    def counted(self):
        mask = self.inputs.get("attention_mask")
        return torch.ones_like(self.inputs["tokens"], dtype=torch.bool) if mask is None else mask != 0

    def layers(self):
        """(prefix of weights, of steps) of each block, the encoder's first."""
        encoder = [(f"encoder.layers.{i}", f"encoder.blocks.{i}") for i in range(self.config.get("encoder_layers", 0))]
        return encoder + [(f"layers.{i}", f"blocks.{i}") for i in range(self.config["num_layers"])]

    def attentions(self):
        names = [name.removesuffix(".pattern") for name in self.plain if name.endswith("attn.pattern")]
        return names

    def untrained(self, seed):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([self.program, "train", self.name, "--task", self.name, "--steps", "1", "--lr", "0", "--init",
                                   "xavier", "--seed", str(seed), "--out", out + "/model"], capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(done.stderr)
            return self.read(Path(out) / "model")


# --- what each sweep's runs are: a list of keyword arguments of Model.run -------------------------------------------------


def each_head(m):
    heads = m.config["nhead"]
    return [{"edits": [{"edit": "scale_head", "attention": name, "head": head, "factor": 0.0}]} for name in m.attentions()
            for head in range(heads)]


def each_averaged_head(m):
    """z of a head is its mean over all queries that are no padding."""
    runs = []
    for name in m.attentions():
        z = m.plain[f"{name}.z"]
        mask = m.inputs.get("encoder_attention_mask" if name.startswith("encoder.") else "attention_mask")
        seen = torch.ones(z.shape[0], z.shape[2], dtype=torch.bool) if mask is None else mask != 0
        for head in range(z.shape[1]):
            mean = z[:, head][seen].mean(0)
            runs.append({"edits": [{"edit": "set_cell", "tensor": f"{name}.z", "index": [b, head, q, d], "value": float(mean[d])}
                                   for b in range(z.shape[0]) for q in range(z.shape[2]) for d in range(z.shape[3])]})
    return runs


def each_exchanged_layer(m):
    """A layer's weights and the next one's, of the same stack."""
    runs = []
    prefixes = [prefix for prefix, _ in m.layers()]
    for one, next_one in zip(prefixes, prefixes[1:]):
        if one.rpartition(".")[0] != next_one.rpartition(".")[0]:
            continue
        renamed = lambda name: (next_one + name[len(one):] if name.startswith(one + ".") else one + name[len(next_one):] if
                                name.startswith(next_one + ".") else name)
        runs.append({"weights": {name: m.weights[renamed(name)] for name in m.weights}})
    return runs


def each_layer(m):
    """Without what a layer's sublayers write: all that they end in is 0."""
    runs = []
    for prefix, _ in m.layers():
        ends = ("o_proj.weight", "o_proj.bias", "down_proj.weight", "down_proj.bias")
        runs.append({"weights": {name: torch.zeros_like(value) if name.startswith(prefix + ".") and name.endswith(ends) else value
                                 for name, value in m.weights.items()}})
    return runs


def each_neuron(m):
    """Without its column of the matrix that reads it."""
    runs = []
    for prefix, _ in m.layers():
        name = prefix + ".down_proj.weight"
        for neuron in range(m.weights[name].shape[1] if name in m.weights else 0):
            matrix = m.weights[name].clone()
            matrix[:, neuron] = 0.0
            runs.append({"weights": {**m.weights, name: matrix}})
    return runs


def hidden(m, encoder):
    tokens = m.inputs["encoder_tokens" if encoder else "tokens"]
    mask = m.inputs.get("encoder_attention_mask" if encoder else "attention_mask", torch.ones_like(tokens))
    runs = []
    for batch, position in np.argwhere(np.asarray(mask) != 0):
        edits = []
        for name in m.attentions():
            cross = name.endswith("cross_attn")
            if (name.startswith("encoder.") or cross) != encoder:
                continue
            hide = {"edit": "mask", "attention": name, "batch": int(batch), "head": "*", "key": int(position)}
            edits.append({**hide, "query": "*", "keep": False})
            if not cross:
                edits.append({**hide, "query": int(position), "keep": True})
        runs.append({"edits": edits})
    return runs


def replaced(m, encoder):
    """Up to eight ordinary tokens, evenly through the vocabulary, in each place."""
    which = "encoder_tokens" if encoder else "tokens"
    tokens = m.inputs[which]
    size = m.config["encoder_vocab_size" if encoder else "vocab_size"]
    mask = m.inputs.get("encoder_attention_mask" if encoder else "attention_mask", torch.ones_like(tokens))
    runs = []
    for batch, position in np.argwhere(np.asarray(mask) != 0):
        token, seen = int(tokens[batch, position]), []
        for i in range(8):
            other = (token + 1 + i * max(1, size // 8)) % size
            while other == token or other in m.special:
                other = (other + 1) % size
            if other not in seen:
                seen.append(other)
        for other in seen:
            changed = tokens.clone()
            changed[batch, position] = other
            runs.append({"inputs": {**m.inputs, which: changed}})
    return runs


def linear(first, last, count):
    return [first + (last - first) * i / (count - 1) for i in range(count)]


def keys(name, values):
    return lambda m: [{"config": {name: value}} for value in values]


def most_at(m, query):
    return lambda run: run[f"{ATTENTION}.pattern"][BATCH, HEAD, query].max()


# vary (and row, where two are alike) -> runs; None if a model has none
RUNS = {
    "each source letter": lambda m: hidden(m, True),
    "each position": lambda m: hidden(m, False),
    "each replaced source token": lambda m: replaced(m, True),
    "each replaced token": lambda m: replaced(m, False),
    "each head": each_head,
    "each averaged head": each_averaged_head,
    "each exchanged layer": each_exchanged_layer,
    "each layer": each_layer,
    "each neuron": each_neuron,
    "dropout_seed=1..10:10": lambda m: [{"dropout_seed": seed} for seed in range(1, 11)],
    "attention_scale=0.05..1:20": keys("attention_scale", linear(0.05, 1.0, 20)),
    "layer_norm_eps=1e-6,1e-5,1e-4,1e-3,1e-2,0.1,1": keys("layer_norm_eps", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]),
    "sliding_window=1,2,3,4,6,8,12,16": keys("sliding_window", [1, 2, 3, 4, 6, 8, 12, 16]),
    "positional_encoding=none": keys("positional_encoding", ["none"]),
    "norm_first=true,false": keys("norm_first", [True, False]),
    "residual_scale=0.25..2:15": keys("residual_scale", linear(0.25, 2.0, 15)),
    "each head; norm_first=true,false": lambda m: [{**run, "config": {"norm_first": first}} for run in each_head(m) for first in
                                                   (True, False)],
    # Only what a training begins with: after a hundred steps the weights depend on every rounding before.
    "training_step=0,50,100,300": lambda m: [{"weights": m.untrained(0)}, None, None, None],
    "training_seed=0..4:5; training_step=0,100": lambda m: [run for seed in range(5) for run in
                                                            ({"weights": m.untrained(seed)}, None)],
    "learning_rate=1e-4,3e-4,1e-3,3e-3,0.01; training_step=100": lambda m: [None] * 5,
    "arithmetic=bfloat16,float16": lambda m: [None] * 2,  # decoder.py rounds nothing
}


def changes(m, run):
    """(how many predictions change, whether that is beyond doubt); where a logit is NaN, nothing is predicted"""
    before, after = m.plain["logits"], run["logits"]
    lost = torch.isnan(after).any(-1)
    sure = all(bool(((top[..., 0] - top[..., 1] > CLOSE) | lost | ~m.counted()).all()) for top in
               (before.topk(2, dim=-1).values, after.topk(2, dim=-1).values))
    changed = ((before.argmax(-1) != after.argmax(-1)) | lost) & m.counted()
    return int(changed.sum()), sure


def fits(m, vary):
    c = complete(m.config)
    if "source" in vary:
        return c["encoder_layers"] > 0
    if vary.startswith("dropout_seed"):
        return c["dropout"] > 0
    if vary == "each neuron":
        return c["experts"] == 0
    return m.name == "reverse" or not vary.startswith(("training", "learning_rate"))  # a task of this model's vocabulary


def swept(m, vary, row):
    runs = RUNS[vary](m)
    found = {"runs": len(runs), "changed": {}, "unsure": []}
    rows = []
    for i, how in enumerate(runs):
        if how is None:
            found["unsure"].append(i)
            continue
        run = m.run(**how)
        changed, sure = changes(m, run)
        if not sure:
            found["unsure"].append(i)
        elif changed:
            found["changed"][str(i)] = changed
        if row is not None:
            rows.append(np.asarray(row(run)))
    if row is not None:
        found["row"] = stored(np.stack(rows))
    return found


def largest_gradients(m):
    case = Case(m.name, "", m.config, m.inputs, m.weights)
    gradients = Differentiable(case, torch.float64).gradients("loss")
    return {"largest": {name: float(f"{gradients[name].abs().max().item():.9g}") for name in m.weights}}


def sizes_of_weights(m):
    return {"largest": {name: float(f"{np.linalg.norm(np.asarray(m.weights[name], dtype=np.float64)):.9g}") for name in m.weights}}


def temperatures(m):
    logits = np.asarray(m.plain["logits"])[0]
    rows = np.stack([softmax(logits / temperature).max(axis=-1) for temperature in linear(0.1, 2.0, 20)])
    return {"runs": 20, "changed": {}, "unsure": [], "row": stored(rows)}


def crossings(value, low, high, target, parts=4000):
    """Where a function of one number has this value, from the signs between."""
    places = np.linspace(low, high, parts)
    values = np.array([value(place) for place in places]) - target
    found = []
    for i in np.nonzero(values[:-1] * values[1:] < 0)[0]:
        a, b = places[i], places[i + 1]
        for _ in range(60):
            middle = (a + b) / 2
            a, b = (middle, b) if (value(middle) - target) * (value(a) - target) > 0 else (a, middle)
        found.append(float(f"{a:.9g}"))
    return found


def sought_temperature(m):
    logits = np.asarray(m.plain["logits"])[BATCH, 1]
    return {"found": crossings(lambda t: softmax(logits / t).max(), 0.01, 50.0, 0.5)}


def sought_scale(m):
    """The first layer's scores are linear in the scale."""
    scores = np.asarray(m.plain[f"{ATTENTION}.attn_scores"])[BATCH, HEAD, 1, :2]
    now = 1 / np.sqrt(m.plain[f"{ATTENTION}.q"].shape[-1])
    return {"found": crossings(lambda s: softmax(scores / now * s).max(), 1e-4, 50.0, 0.9)}


def answer(m, question):
    vary, row = question["vary"], question.get("row")
    if question.get("seek"):
        return sought_temperature(m) if vary == "temperature" else sought_scale(m)
    if vary.startswith("sample="):
        return {"drawn": 20}
    if vary == "each parameter":
        return largest_gradients(m) if row.startswith("largest") else sizes_of_weights(m)
    if vary.startswith("temperature="):
        return temperatures(m)
    if not fits(m, vary):
        return None
    watched = {"training_step=0,50,100,300": lambda run: run[f"{ATTENTION}.pattern"][BATCH, HEAD],
               "training_seed=0..4:5; training_step=0,100": lambda run: softmax(np.asarray(run["logits"][BATCH])).max(axis=-1).mean()}
    return swept(m, vary, watched.get(vary) if row else None)


def main(program):
    torch.set_default_dtype(torch.float64)
    program = os.path.abspath(program)
    questions = json.loads((ROOT / "assets" / "tables" / "sweeps.json").read_text())
    out = {question["title"]: {} for question in questions}
    for name in MODELS:
        m = Model(program, name)
        for question in questions:
            found = answer(m, question)
            if found is not None:
                out[question["title"]][name] = found
            print(name, question["vary"], str(found)[:110], flush=True)
    lines = [f"  {json.dumps(title)}: {json.dumps(found)}" for title, found in out.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (HERE / "ready_sweeps.json").write_text(text)
    print(len(text), "bytes")


if __name__ == "__main__":
    main(sys.argv[1])
