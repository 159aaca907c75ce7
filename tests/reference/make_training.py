"""Writes training/: 20 steps of training by torch.optim, on the same weights and batches.

    python3 make_training.py [NAME …]

training/NAME/ is a model folder (config.json, model.safetensors: where training begins) with data.safetensors, the
batches, and training.json: the settings, and the loss and the learning rate of each step. trained.safetensors holds
the parameters after the last step. Everything is computed in float64.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import rng
import safetensors_file
from decoder import Decoder

TRAINING = Path(__file__).resolve().parent / "training"
STEPS = 20
SMALL = {"d_model": 16, "nhead": 4, "num_layers": 2, "dim_feedforward": 32, "vocab_size": 11, "lm_head": True}

# (config, settings, the names of masks and targets that the batches bring)
CASES = {
    "adam-tied": (
        {**SMALL, "norm_first": True, "final_norm": True, "activation": "gelu", "positional_encoding": "learned",
         "max_positions": 8, "tie_word_embeddings": True},
        {"optimizer": "adam", "lr": 1e-2, "warmup": 5, "clip": 1.0}, ["attention_mask"]),
    "adamw-encdec": (
        {**SMALL, "norm_first": False, "cross_attention": True, "encoder_layers": 1, "encoder_vocab_size": 7,
         "positional_encoding": "sinusoidal", "scale_embedding": True},
        {"optimizer": "adamw", "lr": 3e-3, "betas": [0.9, 0.98], "weight_decay": 0.1, "warmup": 10},
        ["attention_mask", "encoder_attention_mask", "targets"]),
    "adam-decay": (
        {**SMALL, "dim_feedforward": 0, "norm_first": True, "positional_encoding": "sinusoidal"},
        {"optimizer": "adam", "lr": 5e-3, "weight_decay": 0.05, "clip": 0.5}, ["targets"]),
    "sgd-momentum": (
        {**SMALL, "norm": "rmsnorm", "norm_first": True, "final_norm": True, "gated_mlp": True, "activation": "silu",
         "bias": False, "positional_encoding": "rope", "num_key_value_heads": 2},
        {"optimizer": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "warmup": 4, "clip": 1.0}, []),
    "adamw-defaults": (
        {**SMALL, "norm_placement": "peri", "norm": "rmsnorm", "qk_norm": True, "positional_encoding": "rope",
         "shared_qkv": True, "bias": False},
        {"optimizer": "adamw", "lr": 1e-2}, []),
    "adamw-experts": (
        {**SMALL, "norm": "rmsnorm", "norm_first": True, "final_norm": True, "gated_mlp": True, "activation": "silu",
         "bias": False, "positional_encoding": "rope", "attention_sinks": True, "head_dim": 8, "kv_lora_rank": 6,
         "q_lora_rank": 8, "qk_rope_head_dim": 4, "v_head_dim": 6, "experts": 4, "experts_per_token": 2,
         "expert_dim_feedforward": 12, "moe_layers": [1], "router_normalize": True, "shared_dim_feedforward": 8,
         "shared_gate": True},
        {"optimizer": "adamw", "lr": 3e-3, "weight_decay": 0.05, "warmup": 5, "clip": 1.0}, ["attention_mask"]),
}


def ends(seed, name, length, rows):
    """Masks of rows that end somewhere after the second position.   -> [step, row, length]"""
    kept = 2 + rng.integers(seed, name, (STEPS, rows, 1), length - 1)
    return (np.arange(length) < kept).astype(np.int64)


def batches(seed, config, brought, rows=4, length=6, src=5):
    data = {"tokens": rng.integers(seed, "tokens", (STEPS, rows, length), config["vocab_size"])}
    if config.get("encoder_layers"):
        data["encoder_tokens"] = rng.integers(seed, "encoder_tokens", (STEPS, rows, src), config["encoder_vocab_size"])
    if "attention_mask" in brought:
        data["attention_mask"] = ends(seed, "attention_mask", length, rows)
    if "encoder_attention_mask" in brought:
        data["encoder_attention_mask"] = ends(seed, "encoder_attention_mask", src, rows)
    if "targets" in brought:
        left_out = rng.uniforms(seed, "left out", (STEPS, rows, length)) < 0.3
        data["targets"] = np.where(left_out, -100, rng.integers(seed, "targets", left_out.shape, config["vocab_size"]))
    return data


def targets_of(batch):
    """The next token where there are no targets; padding and the last position are left out."""
    if "targets" in batch:
        return batch["targets"]
    tokens, targets = batch["tokens"], torch.full_like(batch["tokens"], -100)
    kept = batch.get("attention_mask", torch.ones_like(tokens)) != 0
    targets[:, :-1] = torch.where(kept[:, :-1] & kept[:, 1:], tokens[:, 1:], targets[:, :-1])
    return targets


def surely_chosen(trace, config):
    """Whether no choice of experts is so near that float32 could make another."""
    k = config.get("experts_per_token", 0)
    best = [scores.sort(-1, descending=True).values for name, scores in trace.items() if name.endswith("router_scores")]
    return all((scores[..., k - 1] - scores[..., k]).min() > 2e-5 for scores in best)


def loss_of(config, weights, batch):
    decoder = Decoder(config, weights)
    decoder.forward({name: value for name, value in batch.items() if name != "targets"})
    assert surely_chosen(decoder.trace, config)
    return F.cross_entropy(decoder.trace["logits"].transpose(1, 2), targets_of(batch))


def optimizer_of(settings, weights):
    names = {"betas", "weight_decay", "momentum"}
    rest = {key: value for key, value in settings.items() if key in names}
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[settings["optimizer"]]
    return kind(weights.values(), lr=settings["lr"], **rest)


def train(config, weights, data, settings):
    weights = {name: torch.as_tensor(value).double().requires_grad_() for name, value in weights.items()}
    optimizer = optimizer_of(settings, weights)
    warmup = settings.get("warmup", 0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup) if warmup else 1.0)
    losses, rates = [], []
    for step in range(STEPS):
        batch = {name: torch.as_tensor(values[step]) for name, values in data.items()}
        loss = loss_of(config, weights, batch)
        optimizer.zero_grad()
        loss.backward()
        if "clip" in settings:
            torch.nn.utils.clip_grad_norm_(weights.values(), settings["clip"])
        rates.append(optimizer.param_groups[0]["lr"])
        losses.append(loss.item())
        optimizer.step()
        schedule.step()
    return losses, rates, {name: value.detach().float().numpy() for name, value in weights.items()}


def main(wanted):
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    if not wanted and TRAINING.exists():
        shutil.rmtree(TRAINING)
    for seed, (name, (config, settings, brought)) in enumerate(CASES.items()):
        if wanted and name not in wanted:
            continue
        folder = TRAINING / name
        folder.mkdir(parents=True, exist_ok=True)
        weights = rng.perturbed_weights(config, seed)
        data = batches(seed, config, brought)
        losses, rates, trained = train(config, weights, data, settings)
        (folder / "config.json").write_text(json.dumps({"model_type": "decoderscope", **config}, indent=1) + "\n")
        (folder / "training.json").write_text(
            json.dumps({**settings, "losses": losses, "learning_rates": rates}, indent=1) + "\n")
        safetensors_file.save(folder / "model.safetensors", weights)
        safetensors_file.save(folder / "data.safetensors", data)
        safetensors_file.save(folder / "trained.safetensors", trained)
        print(f"{name}: {losses[0]:.4f} … {losses[-1]:.4f}")


if __name__ == "__main__":
    main(sys.argv[1:])
