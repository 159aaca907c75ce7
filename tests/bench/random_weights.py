"""Models of random weights, as both programs read them."""

import json

import torch

import safetensors_file
from config import parameters


def random_weights(config):
    """Of a size at which a deep stack stays tame: what is multiplied matters here, not what it means."""
    generator = torch.Generator().manual_seed(0)
    weights = {}
    for name, shape, kind, fan_in in parameters(config):
        if kind == "gain":
            weights[name] = torch.ones(shape)
        else:
            scale = fan_in ** -0.5 if kind == "linear" else 0.02
            weights[name] = torch.randn(shape, generator=generator) * scale
    return weights


def write_model(folder, config, weights):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "decoderscope", **config}))
    safetensors_file.save(folder / "model.safetensors", {name: w.numpy() for name, w in weights.items()})
