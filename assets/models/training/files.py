"""The files of a bundled model, as the program reads them."""

import json

import torch

import safetensors_file


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def save_weights(folder, weights, dtype=torch.float32):
    arrays = {name: value.detach().to(dtype).numpy() for name, value in weights.items()}
    safetensors_file.save(folder / "model.safetensors", arrays)


def load_weights(folder):
    arrays = safetensors_file.load(folder / "model.safetensors")
    return {name: torch.from_numpy(array).float() for name, array in arrays.items()}


BEGIN, END = "<!-- measured by train.py -->", "<!-- end -->"


def write_results(card, measures, samples):
    """Puts what was measured, and what the model wrote, in its place in the model card."""
    lines = ["| measure | claimed | measured |", "| --- | --- | --- |"]
    lines += [f"| {m.what} | {m.claim} | {m.text(m.measured)} |" for m in measures]
    for sample in samples:
        lines += ["", f"> {sample.rstrip()}"]
    before, rest = card.read_text(encoding="utf-8").split(BEGIN)
    between = "\n\n" + "\n".join(lines) + "\n\n"
    card.write_text(before + BEGIN + between + END + rest.split(END)[1], encoding="utf-8")
