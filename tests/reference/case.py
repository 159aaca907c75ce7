"""One fixture: a configuration, its weights and inputs, and what is done to the run."""

from dataclasses import dataclass, field

import decoder
import rng


@dataclass
class Case:
    name: str
    about: str  # one line for the README
    config: dict
    inputs: dict
    weights: dict
    weights_seed: int = None  # where the weights are initial_weights(config, seed) and are not stored
    bundled: str = None  # the bundled model of these weights and inputs
    edits: list = field(default_factory=list)
    dropout_seed: int = None
    asked: list = field(default_factory=list)

    def run(self):
        return decoder.run(self.config, self.weights, self.inputs, self.edits, self.dropout_seed, self.asked)

    def run_json(self):
        """What run.json says; empty where there is nothing to say."""
        said = {"bundled": self.bundled, "weights_seed": self.weights_seed, "dropout_seed": self.dropout_seed,
                "asked": self.asked or None}
        return {key: value for key, value in said.items() if value is not None}


def initial(name, about, config, seed, inputs, **rest):
    """A case with PyTorch-like initial weights, which are not stored."""
    return Case(name, about, config, inputs, rng.initial_weights(config, seed), weights_seed=seed, **rest)
