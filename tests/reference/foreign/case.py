"""A case: a module that saves what another project's saves, and what is to be known of it."""

import json
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

import rng
import safetensors_file
from parts import eager, recording


@dataclass
class Case:
    name: str
    title: str
    source: dict  # {"repository": …, "paper": …}
    module: nn.Module
    inputs: dict
    our_config: dict
    map: dict
    asks: dict = field(default_factory=dict)
    assumes: dict = field(default_factory=dict)
    skipped: dict = field(default_factory=dict)  # stored, and of no use: their name -> why
    made: dict = field(default_factory=dict)  # not stored: our name -> formula and shape
    needs: list = field(default_factory=list)  # what the contract's keys can't say
    config_json: dict = None  # Hugging Face's
    refuses: dict = field(default_factory=dict)  # keys of config.json that change the numbers: key -> value and why
    store: object = None  # what the file holds instead of the module's own tensors: stored -> stored, as numpy has it
    unsaved: tuple = ()  # tied or ignored: in the state_dict, but not in their file
    prefix: str = ""  # before every name
    stored_as: str = ""  # how the file holds some of the tensors that `map` names
    dtype: str = "F32"
    shards: int = 1

    def __post_init__(self):
        fill(self.module, self.name, self.dtype)

    def stored(self):
        """What their file holds, as torch has it."""
        state = self.module.state_dict()
        missing = set(self.unsaved) - set(state)
        assert not missing, missing
        return {self.prefix + key: value.detach().contiguous() for key,
                value in state.items() if key not in self.unsaved}

    def trace(self):
        with recording() as trace, torch.no_grad():
            self.module.eval()(self.inputs)
        return trace

    def left(self):
        """A batch that is padded on the left, and its logits under the fill of transformers' eager attention. Nothing is
        told of positions, so they count padding."""
        inputs = {name: value for name, value in self.inputs.items() if name != "custom_mask"}
        for mask, tokens in (("attention_mask", "tokens"), ("encoder_attention_mask", "encoder_tokens")):
            if tokens in inputs:
                inputs[mask] = torch.ones_like(inputs[tokens])
                inputs[mask][1, :3] = 0
        with recording() as trace, eager(), torch.no_grad():
            self.module.eval()(inputs)
        return {**inputs, "logits": trace["logits"]}

    def about(self):
        known = {"title": self.title, "source": self.source, "format": "F32" if self.dtype == "F32" else self.dtype,
                 "asks": self.asks, "assumes": self.assumes, "needs": self.needs, "our_config": self.our_config,
                 "map": self.map, "skipped": self.skipped, "made": self.made, "refuses": self.refuses,
                 "stored_as": self.stored_as}
        return {key: value for key, value in known.items() if key in ("title", "source", "our_config", "map") or value}

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        stored = {key: on_disk(value, self.dtype) for key, value in self.stored().items()}
        stored = self.store(stored) if self.store is not None else stored
        if self.shards == 1:
            safetensors_file.save(folder / "model.safetensors", stored)
        else:
            self.write_shards(folder, stored)
        if self.config_json is not None:
            (folder / "config.json").write_text(json.dumps(self.config_json, indent=2) + "\n")
            self.write_left(folder / "left")
        safetensors_file.save(folder / "inputs.safetensors", {key: value.numpy() for key, value in self.inputs.items()})
        expected = {key: value.contiguous().numpy() for key, value in self.trace().items()}
        safetensors_file.save(folder / "expected.safetensors", expected)
        (folder / "about.json").write_text(json.dumps(self.about(), indent=1) + "\n")

    def write_left(self, folder):
        folder.mkdir()
        left = {key: value.contiguous().numpy() for key, value in self.left().items()}
        safetensors_file.save(folder / "expected.safetensors", {"logits": left.pop("logits")})
        safetensors_file.save(folder / "inputs.safetensors", left)

    def write_shards(self, folder, stored):
        """As Hugging Face splits a large model: model-00001-of-00002.safetensors and an index."""
        where, names = {}, list(stored)
        for shard in range(self.shards):
            file = f"model-{shard + 1:05}-of-{self.shards:05}.safetensors"
            share = names[len(names) * shard // self.shards:len(names) * (shard + 1) // self.shards]
            safetensors_file.save(folder / file, {name: stored[name] for name in share})
            where.update({name: file for name in share})
        total = sum(value.nbytes for value in stored.values())
        index = {"metadata": {"total_size": total}, "weight_map": where}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def on_disk(value, dtype):
    if not value.is_floating_point():
        return value.numpy()
    if dtype == "F16":
        return value.numpy().astype(np.float16)
    if dtype == "BF16":
        return value.bfloat16().view(torch.int16).numpy().view(np.uint16)
    return value.numpy()


def fill(module, name, dtype="F32"):
    """Random parameters: gains around 1, biases around 0, and so far from it that none can be left out unnoticed."""
    embeddings = {id(part.weight) for part in module.modules() if isinstance(part, nn.Embedding)}
    with torch.no_grad():
        for key, parameter in module.named_parameters():
            stream = f"{name}/{key}"
            spread = 2.0 * rng.uniforms(1, stream, tuple(parameter.shape)) - 1.0
            if parameter.numel() == parameter.size(-1) * (parameter.dim() > 0):  # one axis
                value = (1.0 if bool((parameter == 1).all()) else 0.0) + 0.4 * spread
            elif id(parameter) in embeddings:
                value = rng.normals(1, stream, tuple(parameter.shape))
            else:
                value = 2.0 * spread / np.sqrt(parameter.shape[-1])
            value = torch.from_numpy(np.asarray(value)).float()
            if dtype != "F32":
                value = value.to({"F16": torch.float16, "BF16": torch.bfloat16}[dtype]).float()
            parameter.copy_(value)


def some_inputs(name, vocabulary, length=7, source=None, padding=True, batch=2):
    """Tokens, and the source's where `source` is (its vocabulary, its length); padding stands at the end of row 1."""
    inputs = {"tokens": torch.from_numpy(rng.integers(1, f"{name}/tokens", (batch, length), vocabulary))}
    lengths = {"attention_mask": length}
    if source is not None:
        shape = (batch, source[1])
        inputs["encoder_tokens"] = torch.from_numpy(rng.integers(1, f"{name}/encoder_tokens", shape, source[0]))
        lengths["encoder_attention_mask"] = source[1]
    if padding:
        for key, size in lengths.items():
            inputs[key] = torch.ones(batch, size, dtype=torch.long)
            inputs[key][1, size - 2:] = 0
    return inputs
