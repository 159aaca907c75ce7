"""What Compare measures of norms, made by torch from the reference decoder: writes tabs_norms.json beside this file.

Each model runs with the norms before and behind the sublayers and in the other two places, and stacked deeper; added
blocks, and norms that the model lacks in a place, have the initial weights of seed 0. Lengths, ratios and cosines are means over the rows that are not padding.
"""

import json
import os

import torch
from torch.nn.functional import cosine_similarity, layer_norm

import decoder
import models
import rng

HERE = os.path.dirname(os.path.abspath(__file__))


def deepened(case, placement, layers):
    """`placement` is norm_first, or another norm_placement."""
    key = "norm_placement" if isinstance(placement, str) else "norm_first"
    config = {**case.config, key: placement, "num_layers": layers}
    weights = {**rng.initial_weights(config, 0), **case.weights}
    return config, weights, decoder.run(config, weights, case.inputs)


def kept_rows(case, tensor):
    mask = torch.as_tensor(case.inputs["attention_mask"]).bool()
    return tensor.double()[mask]


def mean_length(case, tensor):
    return torch.linalg.vector_norm(kept_rows(case, tensor), dim=-1).mean().item()


def mean_ratio(case, update, stream):
    lengths = [torch.linalg.vector_norm(kept_rows(case, t), dim=-1) for t in (update, stream)]
    return (lengths[0] / lengths[1]).mean().item()


def curves(case, norm_first, layers):
    config, _, trace = deepened(case, norm_first, layers)
    last_norm = "ln3" if config.get("cross_attention") else "ln2"
    leaves = "resid_post" if norm_first else last_norm + ".normalized"
    sublayers = [("attn_out", "resid_mid", "ln1")]
    if config.get("cross_attention"):
        sublayers.append(("cross_attn_out", "resid_mid_cross", "ln2"))
    sublayers.append(("mlp_out", "resid_post", last_norm))
    blocks = []
    for block in range(layers):
        at = f"blocks.{block}."
        said = {"resid_pre": mean_length(case, trace[at + "resid_pre"])}
        stream = trace[at + "resid_pre"]
        for update, total, norm in sublayers:
            said[total] = mean_length(case, trace[at + total])
            said[update] = mean_length(case, trace[at + update])
            said[update + "/stream"] = mean_ratio(case, trace[at + update], stream)
            said[norm + ".scale"] = kept_rows(case, trace[at + norm + ".scale"]).mean().item()
            stream = trace[at + total] if norm_first else trace[at + norm + ".normalized"]
        said["cosine"] = cosine_similarity(
            kept_rows(case, trace[at + "resid_pre"]), kept_rows(case, trace[at + leaves]), dim=-1).mean().item()
        blocks.append(said)
    leaving = mean_length(case, trace[f"blocks.{layers - 1}.{leaves}"])
    return {"model": case.name, "norm_first": norm_first, "layers": layers, "blocks": blocks, "leaving": leaving}


def row(case, norm_first, norm, batch, pos):
    """One row of a norm by torch's own layer_norm."""
    config, weights, trace = deepened(case, norm_first, case.config["num_layers"])
    sums = {"ln1": "resid_mid", "ln2": "resid_post"}
    entering = {"ln1": "resid_pre", "ln2": "resid_mid"}
    at = "blocks.1."
    before = trace[at + (entering if norm_first else sums)[norm]][batch, pos].double()
    gain, shift = (torch.as_tensor(weights[f"layers.1.norm{norm[2]}.{kind}"]).double() for kind in ("weight", "bias"))
    eps = config["layer_norm_eps"]
    after = layer_norm(before, before.shape, gain, shift, eps)
    variance, mean = torch.var_mean(before, unbiased=False)
    return {"model": case.name, "norm_first": norm_first, "norm": at + norm, "batch": batch, "pos": pos,
            "mean": mean.item(), "variance": variance.item(), "scale": (variance + eps).sqrt().item(),
            "length_before": before.norm().item(), "length_after": after.norm().item(), "after": after.tolist()}


def pair(case, step, masked):
    """The largest and the mean difference of a step between Pre-Norm and Post-Norm, over the cells that are seen."""
    a, b = (deepened(case, norm_first, case.config["num_layers"])[2] for norm_first in (True, False))
    difference = (a[step].double() - b[step].double()).abs()
    if masked:
        difference = difference[a[step.rsplit(".", 1)[0] + ".mask"].bool().expand_as(difference)]
    return {"model": case.name, "step": step, "largest": difference.max().item(), "mean": difference.mean().item()}


def other_place(case, placement, layers):
    """The same of peri or reordered, where a norm stands between what a sublayer writes and the sum."""
    config, _, trace = deepened(case, placement, layers)
    sublayers = [("attn_out", "resid_mid", "ln1"), ("mlp_out", "resid_post", "ln2")]
    if config.get("cross_attention"):
        sublayers[1:] = [("cross_attn_out", "resid_mid_cross", "ln2"), ("mlp_out", "resid_post", "ln3")]
    blocks = []
    for block in range(layers):
        at = f"blocks.{block}."
        stream = trace[at + "resid_pre"]
        said = {"resid_pre": mean_length(case, stream)}
        for update, total, norm in sublayers:
            added = trace[f"{at}{norm}_post.normalized"]
            said[update] = mean_length(case, added)
            said[update + "/stream"] = mean_ratio(case, added, stream)
            for name in [norm + "_post"] + [norm] * (placement == "peri"):
                said[name + ".scale"] = kept_rows(case, trace[f"{at}{name}.scale"]).mean().item()
            stream = trace[at + total]
            said[total] = mean_length(case, stream)
        said["cosine"] = cosine_similarity(
            kept_rows(case, trace[at + "resid_pre"]), kept_rows(case, stream), dim=-1).mean().item()
        blocks.append(said)
    return {"model": case.name, "norm_placement": placement, "layers": layers, "blocks": blocks,
            "leaving": mean_length(case, stream)}


def main():
    lm = models.causal_lm("causal-lm-as-meant", "", models.CAUSAL_LM_AS_MEANT)
    both = models.post_ln_encdec()
    measures = {
        "curves": [curves(case, norm_first, layers) for case, depths in ((lm, (5, 12)), (both, (2, 6)))
                   for layers in depths for norm_first in (True, False)],
        "other_places": [other_place(case, placement, layers) for case, layers in ((lm, 5), (lm, 8), (both, 2))
                         for placement in ("peri", "reordered")],
        "rows": [row(lm, norm_first, norm, 2, 1) for norm_first in (True, False) for norm in ("ln1", "ln2")],
        "pairs": [pair(lm, "blocks.3.attn.pattern", True), pair(lm, "blocks.2.attn.masked_scores", True),
                  pair(both, "blocks.1.mlp_out", False)],
    }
    with open(os.path.join(HERE, "tabs_norms.json"), "w") as file:
        json.dump(measures, file, indent=1)
        file.write("\n")


main()
