"""Whether the reference decoder, with `our_config` and the mapped weights, computes what a case's module computes."""

import torch

import config
import decoder
from mapping import our_weights

TOLERANCE = 1e-5  # of a tensor's largest number


def difference(ours, theirs):
    """The largest difference, relative to the largest number; what isn't finite must be the same."""
    if ours.shape != theirs.shape:
        return float("inf")
    same = torch.where(torch.isfinite(theirs), torch.isfinite(ours), ours == theirs)
    if not bool(same.all()):
        return float("inf")
    finite = torch.isfinite(theirs)
    size = theirs[finite].abs().max().clamp(min=1e-30)
    return float(((ours[finite] - theirs[finite]).abs().max() / size))


def unaccounted(case):
    """Stored tensors that are neither mapped nor skipped, and the other way round."""
    stored, known = set(case.stored()), set(case.map) | set(case.skipped)
    return sorted(stored ^ known) + sorted(set(case.map) & set(case.skipped))


def left_agrees(case, weights):
    left = case.left()
    logits = left.pop("logits")
    ours = decoder.run({**case.our_config, "mask_value": str(torch.finfo(torch.float32).min)}, weights, left)
    return bool(torch.isfinite(logits).all()) and difference(ours["logits"], logits) <= TOLERANCE


def compare(case):
    """(a line to print, whether all is well). Keys that the reference doesn't know yet are no failure."""
    loose = unaccounted(case)
    if loose:
        return f"WRONG MAP: {loose}", False
    stored = {name: value.numpy() for name, value in case.stored().items()}
    weights = our_weights(stored, case.map, case.our_config, case.made)
    theirs = case.trace()
    known = set(config.REQUIRED) | set(config.DEFAULTS) | {"model_type"}
    unknown = sorted(set(case.our_config) - known)
    if unknown:
        return f"not compared: the reference doesn't know {', '.join(unknown)}", True
    if case.config_json is not None and not left_agrees(case, weights):
        return "DIFFERS in the batch that is padded on the left", False
    ours = decoder.run(case.our_config, weights, case.inputs)
    missing = [name for name in theirs if name not in ours]
    if missing:
        return f"MISSING: {missing[:4]}", False
    worst = {name: difference(ours[name], theirs[name]) for name in theirs}
    name = max(worst, key=worst.get)
    wrong = next((name for name in theirs if not worst[name] <= TOLERANCE), None)
    if wrong is not None:
        return f"DIFFERS first at {wrong} by {worst[wrong]:.1e}; logits by {worst['logits']:.1e}", False
    return f"{len(theirs)} tensors agree to {worst[name]:.0e}, logits to {worst['logits']:.0e}", True
