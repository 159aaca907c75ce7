"""The loop that trains."""

import math
import time

import torch
import torch.nn.functional as F

from training.network import forward

IGNORED = -100  # a target that costs nothing


def learning_rate(step, steps, peak, warm_up):
    """Up in a line, then down in half a cosine to a hundredth."""
    if step < warm_up:
        return peak * (step + 1) / warm_up
    along = (step - warm_up) / (steps - warm_up)
    return peak * (0.01 + 0.99 * (1 + math.cos(math.pi * along)) / 2)


def loss_of(config, weights, inputs, targets, learning=False, penalty=None):
    """Mean cross entropy in nats, and what penalty(trace, inputs) adds. targets [batch, pos], IGNORED where nothing is
    asked."""
    trace = forward(config, weights, inputs, learning)
    logits = trace["logits"]  # [batch, pos, vocab]
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    return loss if penalty is None else loss + penalty(trace, inputs)


def train(config, weights, batch_of, steps, peak, warm_up=200, weight_decay=0.01, seed=0, penalty=None):
    """AdamW on the batches (inputs, targets) that batch_of(step) draws. Changes `weights` in place."""
    torch.manual_seed(seed)  # of dropout
    for value in weights.values():
        value.requires_grad_(True)
    matrices = [value for value in weights.values() if value.dim() > 1]
    vectors = [value for value in weights.values() if value.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": weight_decay},
                                   {"params": vectors, "weight_decay": 0.0}], lr=peak, betas=(0.9, 0.98))
    start = time.monotonic()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, steps, peak, warm_up)
        loss = loss_of(config, weights, *batch_of(step), learning=True, penalty=penalty)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
        if (step + 1) % 250 == 0 or step + 1 == steps:
            print(f"step {step + 1} of {steps}: loss {loss.item():.4f}, {time.monotonic() - start:.0f} s", flush=True)
    for value in weights.values():
        value.requires_grad_(False)
