"""Runs in bfloat16 and float16: each step of random configurations, computed by PyTorch from the program's own operands.

    python3 rounding.py PROGRAM [--count 50] [--seed 1] [--keep FOLDER]
    python3 rounding.py --write     writes rounding/: two small decoders, what each step of theirs is in PyTorch

What has no sum must be the same to the bit; a step with sums may end on the neighbouring number where the sum lies near the
middle of two.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import collections
import json
import pathlib
import random
import sys
import tempfile

import numpy as np
import torch

import decoder
import rng
import safetensors_file
from case import Case
from random_cases import computed, drawn, save, surely_routed

TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
DIGITS = {"bfloat16": 8, "float16": 11}
EXACT = (".mask", ".dropout_mask", ".scale", ".expert")  # no numbers of the run's type
ROUTER = (".router_logits", ".router_scores", ".expert_weight")
# Elementwise: one operation on numbers that both have, without a sum whose order could matter.
ELEMENTWISE = (".attn_scores_scaled", "embed", ".masked_scores", ".resid_pre", ".resid_mid", ".resid_mid_cross", ".resid_post",
               ".dropped", ".mask", "encoder_out")


class Rounded(decoder.Decoder):
    """Rounds where the contract says: each recorded tensor once, from float32; and goes on with the program's numbers."""

    def __init__(self, config, weights, trace):
        self.type = TYPES[config["arithmetic"]]
        super().__init__(config, {name: self.stored(torch.as_tensor(value)) for name, value in weights.items()})
        self.theirs, self.ulps, self.digits = trace, {}, DIGITS[config["arithmetic"]]

    def stored(self, x):
        return x.to(self.type).to(x.dtype) if x.is_floating_point() else x

    def linear(self, x, name):
        exact = name.endswith(".router") and self.config["router_float32"]
        return decoder.F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias")) if exact else super().linear(x, name)

    def logits_stored(self, x):
        return x if self.config["logits_float32"] else self.stored(x)

    def record(self, name, tensor):
        c = self.config
        exact = name.endswith(EXACT) or (c["router_float32"] and name.endswith(ROUTER))
        exact = exact or (c["logits_float32"] and name in ("logits", "probs"))
        ours = tensor if exact else self.stored(tensor)
        if self.theirs is None:
            self.trace[name] = ours
            return ours
        if name not in self.theirs:
            self.ulps[name] = np.inf
            return ours
        theirs = torch.as_tensor(self.theirs[name]).reshape(ours.shape)
        # In float32 the order of a sum is worth more than an ulp.
        self.ulps[name] = self.apart(ours.numpy(), theirs.numpy(), 17 if exact else self.digits)
        self.trace[name] = theirs
        return theirs

    def apart(self, ours, theirs, digits):
        """The largest distance in units of the last place of the larger one."""
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        if same.all():
            return 0.0
        if not (np.isfinite(ours) & np.isfinite(theirs) | same).all():
            return np.inf
        ours, theirs = ours[~same].astype("f8"), theirs[~same].astype("f8")
        larger = np.maximum(np.abs(ours), np.abs(theirs))
        apart = np.maximum(np.abs(ours - theirs) - 2e-7, 0)  # a sum that all but cancels has float32's own error
        return float((apart / np.exp2(np.floor(np.log2(larger)) + 1 - digits)).max())


def policy(seed, config):
    """The arithmetic of a case, with what departs from it in some."""
    choose = random.Random(f"rounding-{seed}")
    found = {"arithmetic": choose.choice(list(TYPES))}
    if choose.random() < 0.4 and config.get("norm", "").startswith("rmsnorm"):
        found["norm_cast"] = choose.choice(["before_gain", "after_gain"])
    for key in ("router_float32", "logits_float32"):
        if choose.random() < 0.3:
            found[key] = True
    return found


SMALL = {"d_model": 8, "nhead": 2, "num_layers": 1, "vocab_size": 9, "lm_head": True, "norm_first": True, "final_norm": True}
WRITTEN = {
    "llama-bfloat16": {**SMALL, "dim_feedforward": 12, "norm": "rmsnorm", "bias": False, "gated_mlp": True, "activation": "silu",
                       "positional_encoding": "rope", "arithmetic": "bfloat16"},
    "neox-float16": {**SMALL, "dim_feedforward": 10, "parallel_residual": "two_norms", "activation": "gelu",
                     "positional_encoding": "sinusoidal", "arithmetic": "float16"},
}


def write():
    for name, config in WRITTEN.items():
        tokens = np.array([[1, 4, 2, 7], [3, 3, 8, 0]], dtype=np.int64)
        case = Case(name, "", config, {"tokens": tokens}, rng.initial_weights(config, 11), weights_seed=11)
        folder = pathlib.Path(__file__).parent / "rounding" / name
        save(case, folder)
        (folder / "model.safetensors").unlink()  # the program makes the same from the seed
        one = Rounded(config, case.weights, None)
        with torch.no_grad():
            one.forward({"tokens": torch.as_tensor(tokens)})
        safetensors_file.save(folder / "expected.safetensors", {name: value.float().numpy() for name, value in one.trace.items()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    np.seterr(all="ignore")
    if options.write:
        return write()
    worst, failed, tried, seed, kinds = collections.Counter(), 0, 0, options.seed, collections.Counter()
    while tried < options.count:
        case = drawn(seed, set())
        seed += 1
        if not surely_routed(case):
            continue
        tried += 1
        case.config.update(policy(seed, case.config))
        kinds[case.config["arithmetic"]] += 1
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / case.name
            save(case, folder)
            trace, said = computed(options.program, folder)
        if trace is None:
            failed += 1
            print(f"{seed - 1}: refused: {said}\n    {json.dumps(case.config)}")
            continue
        one = Rounded(case.config, case.weights, trace)
        with torch.no_grad():
            one.forward({name: one.stored(torch.as_tensor(value)) for name, value in case.inputs.items()})
        wrong = {name: ulps for name, ulps in one.ulps.items() if ulps > (0 if name.endswith(ELEMENTWISE) else 1)}
        for name, ulps in one.ulps.items():
            worst[name.rpartition(".")[2]] = max(worst[name.rpartition(".")[2]], ulps)
        if wrong:
            failed += 1
            print(f"{seed - 1}: {wrong}\n    {json.dumps(case.config)}")
            if options.keep:
                save(case, pathlib.Path(options.keep) / case.name)
    print("the largest distance in ulps:", dict(worst))
    print(f"{tried - failed} of {tried} configurations agree ({dict(kinds)})")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
