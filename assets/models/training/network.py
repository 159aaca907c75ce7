"""The network that is trained: the reference decoder of tests/reference, with weights that learn."""

import torch
import torch.nn.functional as F

from config import parameters
from decoder import Decoder


class Network(Decoder):
    """One forward pass; `trace` holds every tensor by the name that the program gives it."""

    def __init__(self, config, weights, learning=False):
        super().__init__(config, weights)
        self.learning = learning

    def dropout(self, x, site, name):
        on = self.learning and site in self.config["dropout_sites"]
        return F.dropout(x, self.config["dropout"]) if on else x

    def record(self, name, tensor):
        self.trace[name] = tensor  # without edits nothing needs a copy
        return tensor


def forward(config, weights, inputs, learning=False):
    """The trace of one pass: name -> tensor. There is dropout while it is `learning`."""
    network = Network(config, weights, learning)
    network.forward(inputs)
    return network.trace


def initial_weights(config, seed, embedding_std=1.0):
    """Weights to start from. A Linear's as PyTorch draws them, without their biases; norms that do nothing yet."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape, kind, fan_in in parameters(config):
        if kind == "embedding":
            value = torch.randn(shape, generator=generator) * embedding_std
        elif kind == "linear" and len(shape) > 1:  # a Linear, or one of each expert
            value = (torch.rand(shape, generator=generator) * 2 - 1) / fan_in**0.5
        else:
            value = torch.ones(shape) if kind == "gain" else torch.zeros(shape)
        weights[name] = value
    return weights
