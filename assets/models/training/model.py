"""From a task to the folder of a bundled model: trains, writes the files, asserts what the card claims."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch

from training.files import load_weights, save_weights, write_json, write_results
from training.measures import check


@dataclass
class Recipe:
    config: dict
    vocabulary: object
    train: Callable  # () -> weights
    measure: Callable  # weights -> measures
    example: Callable  # weights -> what example.json says
    encoder_vocabulary: object = None
    tokens_file: str = "vocabulary.json"
    dtype: torch.dtype = torch.float32  # of the file; what is measured is what was saved
    samples: Callable = None  # weights -> texts that the model wrote


def write_model(folder, recipe):
    write_json(folder / "config.json", recipe.config)
    write_json(folder / recipe.tokens_file, recipe.vocabulary.as_json())
    if recipe.encoder_vocabulary is not None:
        write_json(folder / "encoder_vocabulary.json", recipe.encoder_vocabulary.as_json())
    save_weights(folder, recipe.train(), recipe.dtype)


def main(script, recipe):
    """Without a flag: trains, writes all files, asserts the claims. `--card` does so for the weights that lie there,
    `--check` writes nothing either."""
    flags = sys.argv[1:]
    if flags not in ([], ["--card"], ["--check"]):
        sys.exit(f"usage: {script} [--card | --check]")
    folder = Path(script).resolve().parent
    if not flags:
        write_model(folder, recipe)
    weights = load_weights(folder)
    measures = recipe.measure(weights)
    if flags != ["--check"]:
        write_json(folder / "example.json", recipe.example(weights))
        samples = [] if recipe.samples is None else recipe.samples(weights)
        write_results(folder / "README.md", measures, samples)
    check(measures)
