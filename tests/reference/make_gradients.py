"""Writes gradients/: what torch.autograd says of some of the fixtures' runs.

    python3 make_gradients.py [NAME …]

gradients/NAME.safetensors holds, for the fixture NAME, "loss" and "loss_per_token" where there are logits, and for each
target the gradient by every recorded tensor but masks and by every parameter: "TARGET: grad.NAME". They are computed in
float64. "TARGET: error.NAME" is one number: the largest error of the same gradient in PyTorch's float32. The choice of
experts has no gradient: grad.….mlp.expert and that of a router's correction are 0.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import models
import safetensors_file
import small
import today
from decoder import Decoder

HERE = Path(__file__).resolve().parent
GRADIENTS = HERE / "gradients"

# A cell for each fixture; the loss as well where there are logits and tokens.
CELLS = {
    "gpt2-like": "logits[0,2,3]",
    "llama-like": "logits[0,1,2]",
    "gemma-2-like": "logits[0,2,1]",
    "olmo-2-like": "blocks.1.resid_post[0,1,1]",
    "qwen-3-like": "blocks.0.resid_post[0,2,3]",
    "gpt-j-like": "logits[0,2,1]",
    "gpt-neox-like": "logits[0,1,0]",
    "bloom-like": "logits[0,2,2]",
    "cohere-like": "logits[0,1,1]",
    "t5-like": "logits[0,1,2]",
    "olmo-like": "logits[0,1,2]",
    "olmoe-like": "logits[0,2,1]",
    "hunyuan-like": "logits[0,1,2]",
    "ministral-3-like": "blocks.0.resid_post[0,4,3]",
    "nemotron-like": "logits[0,2,3]",
    "apertus-like": "logits[0,1,2]",
    "phi-3.5-moe-like": "logits[0,2,2]",
    "clipped-encdec": "logits[0,1,2]",
    "deepnorm": "blocks.0.attn.pattern[0,0,2,1]",
    "annotated-transformer-like": "ln_final.normalized[0,1,2]",
    "encdec-tokens": "logits[0,1,2]",
    "peri-encdec": "ln_final.normalized[0,1,1]",
    "encdec-vectors": "blocks.0.resid_post[0,1,2]",
    "cross-post-rmsnorm": "blocks.0.resid_post[0,1,2]",
    "shared-qkv": "blocks.0.attn.z[0,1,1,2]",
    "soft-caps": "logits[0,1,1]",
    "scaled-learned-positions": "logits[0,1,1]",
    "dropout-encdec": "blocks.0.resid_post[0,1,1]",
    "edits-head": "blocks.0.resid_post[0,1,2]",
    "edits-cells-pre": "blocks.0.resid_post[0,1,2]",
    "edits-cells-post": "blocks.0.resid_post[0,1,2]",
    "edits-result": "blocks.0.resid_post[0,1,2]",
    "edits-mask": "blocks.0.resid_post[0,1,2]",
    "nothing-left-finite": "blocks.0.resid_post[0,1,2]",
    "no-bias": "blocks.0.resid_post[0,1,2]",
    "wide-heads-cross": "blocks.0.resid_post[0,1,2]",
    "relu-squared-gated": "blocks.0.resid_post[0,1,2]",
    "swiglu-clamped": "blocks.1.resid_post[0,1,2]",
    "nanochat-like": "logits[0,2,1]",
    "no-gain-layernorm": "blocks.0.resid_post[0,1,2]",
    "granite-like": "logits[0,2,1]",
    "scaled-updates-encdec": "blocks.0.resid_post[0,1,2]",
    "scaled-updates-parallel": "blocks.0.resid_post[0,1,2]",
    "rope-layers-encdec": "blocks.1.resid_mid[0,2,1]",
    "yarn": "logits[0,4,1]",
    "phi-3-longrope-like": "blocks.0.attn.pattern[0,1,5,3]",
    "sinks": "blocks.0.attn.sink[0,1,3,0]",
    "sinks-nothing-left": "blocks.0.resid_post[0,3,2]",
    "sinks-soft-mask": "blocks.0.resid_post[0,3,2]",
    "latent": "logits[0,2,1]",
    "latent-biases": "blocks.0.resid_post[0,3,2]",
    "latent-plus-one": "blocks.1.attn.attn_scores[0,1,3,2]",
    "latent-edits": "blocks.0.resid_post[0,2,2]",
    "mixtral-like": "blocks.1.mlp.router_scores[0,2,1]",
    "qwen-2-moe-like": "logits[0,2,1]",
    "gpt-oss-like": "logits[0,2,1]",
    "deepseek-v3-like": "blocks.1.mlp.expert_weight[0,2,1]",
    "one-expert": "blocks.1.resid_post[0,1,2]",
    "ties": "logits[0,2,1]",
    "experts-encdec": "blocks.0.resid_post[0,1,2]",
    "experts-dropout": "blocks.0.resid_post[0,1,2]",
    "experts-edits": "blocks.1.resid_post[0,1,2]",
}


class Differentiable(Decoder):
    """The same pass, in a given precision, keeping the graph."""

    def __init__(self, case, precision):
        weights = {name: torch.as_tensor(value).to(precision).requires_grad_() for name, value in case.weights.items()}
        super().__init__(case.config, weights, case.edits, case.dropout_seed, case.asked)
        inputs = {name: torch.as_tensor(value) for name, value in case.inputs.items()}
        # Vectors given as inputs need gradients, or the tensors before the first weight would have none.
        self.inputs = {name: x.to(precision).requires_grad_() if x.is_floating_point() else x
                       for name, x in inputs.items()}
        self.forward(self.inputs)

    def record(self, name, tensor):
        """Constants such as sinusoidal codes have gradients, too."""
        tensor = super().record(name, tensor)
        return tensor if tensor.requires_grad or name.endswith("mask") else tensor.requires_grad_()

    def edited(self, name):
        """Every norm divides by the scale that it records: F.layer_norm would pass that step by."""
        return super().edited(name) or name.endswith(".scale")

    def losses(self):
        """Cross-entropy against the next token, and its mean over what counts."""
        tokens = self.inputs["tokens"]
        kept = self.inputs.get("attention_mask", torch.ones_like(tokens)) != 0
        targets = torch.full_like(tokens, -100)
        targets[:, :-1] = torch.where(kept[:, :-1] & kept[:, 1:], tokens[:, 1:], targets[:, :-1])
        logits = self.trace["logits"].transpose(1, 2)
        return F.cross_entropy(logits, targets, reduction="none"), F.cross_entropy(logits, targets)

    def target(self, text):
        if text == "loss":
            return self.losses()[1]
        name, cell = text[:-1].split("[")
        return self.trace[name][tuple(int(index) for index in cell.split(","))]

    def gradients(self, text):
        tensors = {name: x for name, x in self.trace.items() if not name.endswith("mask")} | self.weights
        wanted = {name: x for name, x in tensors.items() if x.requires_grad}
        grads = torch.autograd.grad(self.target(text), list(wanted.values()), retain_graph=True, allow_unused=True)
        found = dict(zip(wanted, grads))
        zero = {name: torch.zeros_like(x) for name, x in tensors.items()}
        return {name: zero[name] if found.get(name) is None else found[name] for name in tensors}


def main(wanted):
    torch.set_num_threads(1)
    cases = {case.name: case for case in models.cases() + list(small.cases()) + list(today.cases())}
    if not wanted and GRADIENTS.exists():
        shutil.rmtree(GRADIENTS)
    GRADIENTS.mkdir(exist_ok=True)
    size = 0
    chosen = {name: cell for name, cell in CELLS.items() if not wanted or name in wanted}
    for name, cell in chosen.items():
        exact, rounded = (Differentiable(cases[name], precision) for precision in (torch.float64, torch.float32))
        stored = {}
        targets = [cell]
        if "logits" in exact.trace and "tokens" in exact.inputs:
            targets.append("loss")
            per_token, mean = exact.losses()
            stored |= {"loss_per_token": per_token.detach().numpy(), "loss": mean.detach().numpy().reshape(1)}
        for target in targets:
            theirs, single = exact.gradients(target), rounded.gradients(target)
            for tensor, grad in theirs.items():
                stored[f"{target}: grad.{tensor}"] = grad.numpy()
                stored[f"{target}: error.{tensor}"] = np.array([(grad - single[tensor]).abs().max().item()])
        stored = {key: np.ascontiguousarray(value, dtype=np.float32) for key, value in stored.items()}
        safetensors_file.save(GRADIENTS / f"{name}.safetensors", stored)
        size += (GRADIENTS / f"{name}.safetensors").stat().st_size
    print(f"{len(chosen)} runs, {size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
