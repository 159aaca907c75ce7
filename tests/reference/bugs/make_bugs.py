"""Writes traces/: decoders of six ways of writing, recorded right, with one mistake each, and right but written otherwise.

Run with Debian's python3-torch:  OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/reference/bugs/make_bugs.py

A folder a way: model.safetensors (the state_dict of all its cases), set.json (what a state_dict can't say, as --set takes
it), and a trace a case, written by assets/recorder/record.py. cases.json says what bisect has to find: the mutation's name
and the first tensor of ours that differs; null where nothing is wrong. gradients.safetensors also has the gradient of the
loss by every tensor.
"""
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "assets" / "recorder")]

import safetensors_file  # noqa: E402
from adapted import WithAdapters  # noqa: E402
from annotated import EncoderDecoder  # noqa: E402
from bare import Bare  # noqa: E402
from functional import Functional  # noqa: E402
from fused import PADDING, Fused  # noqa: E402
from gpt import Gpt  # noqa: E402
from halves import Halves  # noqa: E402
from latent import Latent  # noqa: E402
from lecture import Lecture  # noqa: E402
from llama import Llama  # noqa: E402
from mixture import Today  # noqa: E402
from normed import Normed  # noqa: E402
from packed import Packed  # noqa: E402
from parts import spread  # noqa: E402
from pico import Pico  # noqa: E402
from prompted import Prompted  # noqa: E402
from record import record  # noqa: E402
from rounded import Rounded  # noqa: E402
from stacked import Stacked  # noqa: E402
from strange import Strange  # noqa: E402
from torch_layers import TorchLayers  # noqa: E402

WAYS = {
    "gpt": (Gpt, {"nhead": 2, "norm_first": "true", "activation": "gelu_tanh"}),
    "annotated": (EncoderDecoder, {"nhead": 2, "norm_first": "true", "norm": "layernorm_std", "layer_norm_eps": "1e-6",
                                   "activation": "relu", "scale_embedding": "true",
                                   "positional_encoding": "sinusoidal", "mask_value": "-1e9"}),
    "torch-layers": (TorchLayers, {"nhead": 2, "norm_first": "false", "activation": "relu"}),
    "llama": (Llama, {"nhead": 4, "num_key_value_heads": 2, "layer_norm_eps": "1e-5"}),
    "lecture": (Lecture, {"nhead": 2, "norm_first": "true", "activation": "relu"}),
    "today": (Today, {}),
    "functional": (Functional, {}),
    "strange": (Strange, {}),
    "stacked": (Stacked, {}),
    "packed": (Packed, {}),
    "bare": (Bare, {}),
    "fused": (Fused, {}),
    "pico": (Pico, {}),
    "adapted": (WithAdapters, {}),
    "prompted": (Prompted, {}),
    "latent": (Latent, {}),
    "rounded": (Rounded, {}),
    "normed": (Normed, {}),
    "halves": (Halves, {}),
}

# Whose names tell nothing: the model is the right one's recording, with its parameters.
RECORDED = {"functional", "strange", "stacked", "packed", "bare", "fused", "pico", "adapted", "prompted", "latent", "rounded", "normed",
            "halves"}

# What names and shapes don't tell even with --set: a config.json beside the model.
CONFIGS = {
    "today": {"model_type": "decoderscope", "d_model": 16, "nhead": 4, "num_layers": 3, "dim_feedforward": 12,
              "norm_first": True, "norm": "rmsnorm", "final_norm": True, "activation": "silu", "gated_mlp": True,
              "bias": False, "vocab_size": 11, "positional_encoding": "rope", "lm_head": True, "attention_sinks": True,
              "experts": 4, "experts_per_token": 2, "router": "sigmoid", "router_normalize": True, "sliding_window": 3,
              "sliding_window_layers": [0], "rope_local_theta": 10, "rope_theta": 500, "rope_layers": [0, 1]},
}

B0 = "blocks.0."
A0 = B0 + "attn."
# Mistakes: (way, the mutation that is its cause, the first tensor that differs, other words for the module).
BUGS = [
    ("gpt", "no-scale", A0 + "attn_scores"),
    ("gpt", "scale-by-d-model", A0 + "attn_scores"),
    ("gpt", "scale-without-root", A0 + "attn_scores"),
    ("gpt", "scale-multiplied", A0 + "attn_scores"),
    ("gpt", "mask-inverted", A0 + "masked_scores"),
    ("gpt", "mask-after-softmax", A0 + "masked_scores"),
    ("gpt", "mask-added-as-float", A0 + "masked_scores"),
    ("gpt", "causal-one-too-far", A0 + "masked_scores"),
    ("gpt", "causal-one-too-short", A0 + "masked_scores"),
    ("gpt", "no-causal-mask", A0 + "masked_scores"),
    ("gpt", "fill-zero", A0 + "masked_scores"),
    ("gpt", "softmax-over-queries", A0 + "pattern"),
    ("gpt", "softmax-over-heads", A0 + "pattern"),
    ("gpt", "heads-by-view", A0 + "q"),
    ("gpt", "heads-strided", A0 + "q"),
    ("gpt", "heads-joined-by-view", B0 + "attn_out"),
    ("gpt", "no-residual-attention", B0 + "resid_mid"),
    ("gpt", "no-residual-mlp", B0 + "resid_post"),
    ("gpt", "residual-from-norm", B0 + "resid_mid"),
    ("gpt", "norm-elsewhere", B0 + "ln1.normalized"),
    ("gpt", "no-final-norm", "ln_final.normalized"),
    ("gpt", "norm-over-positions", B0 + "ln1.normalized"),
    ("gpt", "eps-1e-2", B0 + "ln1.normalized"),
    ("gpt", "positions-by-batch", B0 + "resid_pre"),
    ("gpt", "positions-from-1", "pos_embed"),
    ("gpt", "no-positions", B0 + "resid_pre"),
    ("gpt", "embedding-scaled", B0 + "resid_pre"),
    ("gpt", "relu", B0 + "mlp.post"),
    ("gpt", "gelu-exact", B0 + "mlp.post"),
    ("gpt", "no-activation", B0 + "mlp.post"),
    ("gpt", "dropout-left-on", B0 + "resid_mid"),
    ("annotated", "embedding-not-scaled", "encoder.blocks.0.resid_pre"),
    ("annotated", "sinusoid-in-halves", "encoder.blocks.0.resid_pre"),
    ("annotated", "biased-variance", "encoder.blocks.0.ln1.normalized"),
    ("annotated", "shared-qkv", "encoder.blocks.0.attn.k"),
    ("annotated", "fill-tiny", "encoder.blocks.0.attn.masked_scores"),
    ("annotated", "padding-inverted", "encoder.blocks.0.attn.masked_scores"),
    ("annotated", "source-padding-ignored", "encoder.blocks.0.attn.masked_scores"),
    ("annotated", "target-padding-for-source", B0 + "cross_attn.masked_scores"),
    ("annotated", "causal-cross-attention", B0 + "cross_attn.masked_scores"),
    ("annotated", "padding-replaces-causal", A0 + "masked_scores"),
    ("annotated", "encoder-not-normed", "encoder.ln_final.normalized"),
    ("annotated", "no-residual-cross-attention", B0 + "resid_mid_cross"),
    ("torch-layers", "norm-elsewhere", A0 + "q"),
    ("torch-layers", "mask-inverted", A0 + "masked_scores"),
    ("torch-layers", "no-causal-mask", A0 + "masked_scores"),
    ("torch-layers", "source-padding-ignored", B0 + "cross_attn.masked_scores"),
    ("torch-layers", "no-residual-cross-attention", B0 + "resid_mid_cross"),
    ("torch-layers", "one-norm-for-both", B0 + "ln3.normalized"),
    ("torch-layers", "eps-1e-1", B0 + "ln1.normalized"),
    ("torch-layers", "gelu-exact", B0 + "mlp.post"),
    ("torch-layers", "no-activation", B0 + "mlp.post"),
    ("llama", "rope-other-pairs", A0 + "q"),
    ("llama", "no-rope", A0 + "q"),
    ("llama", "rope-theta-500000", A0 + "q"),
    ("llama", "rope-on-values", A0 + "v"),
    ("llama", "key-heads-tiled", A0 + "attn_scores"),
    ("llama", "gate-and-up-swapped", B0 + "mlp.post"),
    ("llama", "layernorm-for-rmsnorm", B0 + "ln1.normalized"),
    ("llama", "gain-plus-one", B0 + "ln1.normalized"),
    ("lecture", "scale-by-d-model", A0 + "attn_scores"),
    ("lecture", "no-scale", A0 + "attn_scores"),
    ("lecture", "softmax-over-queries", A0 + "pattern"),
    ("lecture", "no-residual-attention", B0 + "resid_mid"),
    ("lecture", "no-final-norm", "ln_final.normalized"),
    ("lecture", "gelu-exact", B0 + "mlp.post"),
    ("today", "expert-weights-not-normalized", B0 + "resid_post"),
    ("today", "correction-as-weight", B0 + "resid_post"),
    ("today", "no-sinks", A0 + "pattern"),
    ("today", "rope-in-every-layer", "blocks.2.attn.q"),
    ("today", "rope-local-theta-ignored", A0 + "q"),
    ("today", "rope-theta-10000", "blocks.1.attn.q"),
    ("functional", "no-scale", A0 + "attn_scores"),
    ("functional", "causal-one-too-far", A0 + "masked_scores"),
    ("functional", "softmax-over-queries", A0 + "pattern"),
    ("functional", "gelu-exact", B0 + "mlp.post"),
    ("functional", "no-residual-mlp", "blocks.1.ln1.normalized"),
    ("functional", "no-final-norm", "ln_final.normalized"),
    ("strange", "no-scale", A0 + "attn_scores"),
    ("strange", "no-alibi", A0 + "attn_scores"),
    ("strange", "mask-after-softmax", A0 + "masked_scores"),
    ("strange", "no-layer-scale", B0 + "resid_post"),
    ("stacked", "no-scale", A0 + "attn_scores"),
    ("stacked", "one-norm-for-both", B0 + "ln2.normalized"),
    ("bare", "causal-one-too-far", A0 + "masked_scores"),
    ("bare", "no-query-key-norm", A0 + "q"),
    ("packed", "no-scale", A0 + "attn_scores"),
    ("packed", "expert-weights-not-normalized", B0 + "resid_post"),
    ("pico", "scale-without-root", A0 + "pattern"),
    ("pico", "not-clipped", A0 + "k"),
    ("prompted", "norm-before-sum", B0 + "resid_mid"),
    ("latent", "scale-without-shared-columns", A0 + "attn_scores"),
    ("latent", "shared-key-not-rotated", A0 + "k"),
    ("normed", "scale-by-d-model", A0 + "attn_scores"),
    ("halves", "causal-one-too-far", A0 + "masked_scores"),
]

# Mistakes that nobody listed: (way, words for the module, the first tensor that differs). They are found by
# changing one node of a formula, or by reading another tensor (unlisted.json).
UNLISTED = [
    ("gpt", "scale-by-heads", A0 + "attn_scores"),
    ("gpt", "gelu-constant", B0 + "mlp.post"),
    ("gpt", "gelu-without-root", B0 + "mlp.post"),
    ("gpt", "variance-about-zero", B0 + "ln1.normalized"),
    ("gpt", "variance-not-rooted", B0 + "ln1.normalized"),
    ("gpt", "update-halved", B0 + "resid_mid"),
    ("gpt", "update-subtracted", B0 + "resid_mid"),
    ("llama", "squares-summed", B0 + "ln1.normalized"),
    ("llama", "rope-theta-1000", A0 + "q"),
    ("llama", "rope-slower", A0 + "q"),
    ("llama", "rope-backwards", A0 + "q"),
    ("llama", "gate-of-sigmoid", B0 + "mlp.post"),
    ("llama", "gate-added", B0 + "mlp.post"),
    ("fused", "mlp-left-out", "blocks.1.ln1.normalized"),
    ("annotated", "sinusoid-base", "encoder.blocks.0.resid_pre"),
    ("annotated", "cosines-first", "encoder.blocks.0.resid_pre"),
]

# Mistakes that no change of a formula explains, but a sentence does.
SAID = [("adapted", "adapter-not-scaled"), ("adapted", "adapter-left-out"), ("adapted", "positions-from-row-0"),
        ("adapted", "first-is-read"), ("adapted", "next-expert"), ("prompted", "types-left-out"), ("prompted", "prompt-behind"),
        ("normed", "near-is-far"), ("halves", "lower")]

# Mistakes that compute the same: 1e-9 is 0 to a softmax, and a padding mask in the causal mask's place leaves none.
SAME = {"fill-tiny": "fill-zero", "padding-replaces-causal": "no-causal-mask", "norm-before-sum": "norm-behind-sublayer"}

# Right, and written differently.
RIGHT = [
    ("gpt", "plain"), ("gpt", "additive"), ("gpt", "additive-mask-of-ones"), ("gpt", "finite-fill"), ("gpt", "where"),
    ("gpt", "in-place"), ("gpt", "query-scaled"), ("gpt", "scale-behind-mask"), ("gpt", "einsum"),
    ("gpt", "own-softmax"), ("gpt", "sums-turned"), ("gpt", "row-by-row"), ("gpt", "apart"), ("gpt", "bfloat16"),
    ("gpt", "float64"),
    ("annotated", "plain"), ("annotated", "einsum"), ("annotated", "query-scaled"), ("annotated", "additive"),
    ("torch-layers", "plain"), ("torch-layers", "additive"), ("torch-layers", "need-weights"), ("torch-layers", "seq-first"),
    ("llama", "plain"), ("llama", "complex-rope"), ("llama", "query-scaled"), ("llama", "bfloat16"), ("llama", "float64"),
    ("lecture", "plain"), ("lecture", "finite-fill"),
    ("today", "plain"),
    ("functional", "plain"), ("functional", "additive"), ("strange", "plain"), ("strange", "finite-fill"),
    ("stacked", "plain"), ("packed", "plain"), ("bare", "plain"), ("bare", "padding-within"),
    ("bare", "padding-given"),
    ("fused", "plain"), ("fused", "loss-within"), ("fused", "static-cache"), ("pico", "plain"),
    ("adapted", "plain"), ("prompted", "plain"), ("latent", "plain"), ("rounded", "plain"),
    ("normed", "plain"), ("halves", "plain")
]


def inputs(way):
    torch.manual_seed(11)
    tokens = torch.randint(0, 11, (2, 5))
    if way == "annotated":
        source = torch.randint(0, 9, (2, 5))
        source_mask, target_mask = torch.ones(2, 5).long(), torch.ones(2, 5).long()
        source_mask[0, 3:], target_mask[1, 4:] = 0, 0
        return {"src": source, "tgt": tokens, "src_pad_mask": source_mask, "tgt_pad_mask": target_mask}
    if way == "pico":
        return {"tokens": tokens[0]}
    if way == "fused":
        return {"tokens": torch.tensor([[5, 1, 9, 2, 7], [4, 8, 6, 10, 0]])}
    if way == "torch-layers":
        padding = torch.zeros(2, 4).bool()
        padding[1, 2:] = True
        return {"tgt": torch.randn(2, 5, 8), "memory": torch.randn(2, 4, 8), "memory_key_padding_mask": padding}
    return {"input_ids" if way in ("llama", "today") else "idx" if way == "lecture" else "tokens": tokens}


def apart(state):
    """The fused projection's rows as three."""
    found = {}
    for name, value in state.items():
        if ".c_attn." in name:
            for part, rows in zip(("query", "key", "value"), value.chunk(3)):
                found[name.replace("c_attn", part)] = rows
        else:
            found[name] = value
    return found


def trace(way, how, path):
    build, _ = WAYS[way]
    module = build((how,)).eval()
    state = spread(build(()), 5).state_dict()
    module.load_state_dict(apart(state) if how == "apart" else state)
    given = inputs(way)
    if how == "padding-given":
        given["keep"] = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    if how == "padded":
        given["tokens"][1, 3:] = PADDING
    if how in ("bfloat16", "float64") or way == "rounded":
        dtype = getattr(torch, how, torch.bfloat16)
        module = module.to(dtype)
        given = {name: value.to(dtype) if value.is_floating_point() else value for name, value in given.items()}
    if how == "dropout-left-on":
        torch.manual_seed(1)
        for block in module.h:
            block.drop.train()
    with torch.no_grad(), record(module, path, parameters=how in ("apart", "padded") or (way, how) in SAID or way in ("prompted", "halves")):
        if how == "static-cache":
            text = given["tokens"][:1]
            for first, end in ((0, 3), (3, 4), (4, 5)):
                module(text[:, first:end], first)
        else:
            module(**given)


def trace_gradients(way, path):
    """The right one, with the gradient of its loss by every tensor."""
    build, _ = WAYS[way]
    module = spread(build(()), 5).eval()
    (name, tokens), = inputs(way).items()
    targets = torch.nn.functional.pad(tokens[:, 1:], (0, 1), value=-100)  # the last position has no next token
    with record(module, path, gradients=True) as recording:
        logits = module(**{name: tokens})
        each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
        mean = each.sum() / (targets != -100).sum()
        recording.add_gradients(mean, loss_per_token=each, loss=mean.reshape(1))


def main():
    cases = []
    for way, (build, settings) in WAYS.items():
        folder = HERE / "traces" / way
        folder.mkdir(parents=True, exist_ok=True)
        module = spread(build(()), 5).eval()
        if way in RECORDED:
            module = module.to(torch.bfloat16 if way == "rounded" else torch.float32)
            with torch.no_grad(), record(module, str(folder / "model.safetensors")):
                module(**inputs(way))
        else:
            safetensors_file.save(folder / "model.safetensors",
                                  {name: value.numpy() for name, value in module.state_dict().items()})
        (folder / "set.json").write_text(json.dumps(settings, indent=1) + "\n")
        if way in CONFIGS:
            (folder / "config.json").write_text(json.dumps(CONFIGS[way], indent=1) + "\n")
    for way, name, first in BUGS:
        trace(way, name, str(HERE / "traces" / way / (name + ".safetensors")))
        cases.append({"way": way, "case": name, "cause": SAME.get(name, name), "first": first})
    unlisted = []
    for way, name, first in UNLISTED:
        trace(way, name, str(HERE / "traces" / way / ("unlisted-" + name + ".safetensors")))
        unlisted.append({"way": way, "case": "unlisted-" + name, "first": first})
    for way, name in SAID:
        trace(way, name, str(HERE / "traces" / way / (name + ".safetensors")))
    for way, name in RIGHT:
        trace(way, name, str(HERE / "traces" / way / ("right-" + name + ".safetensors")))
        cases.append({"way": way, "case": "right-" + name, "cause": None, "first": None})
    trace("fused", "padded", str(HERE / "traces" / "fused" / "padded.safetensors"))
    for way in ("gpt", "llama", "lecture"):
        trace_gradients(way, str(HERE / "traces" / way / "gradients.safetensors"))
    for file, found in (("cases.json", cases), ("unlisted.json", unlisted)):
        text = ",\n ".join(json.dumps(case) for case in found)
        (HERE / file).write_text("[\n " + text + "\n]\n")


if __name__ == "__main__":
    main()
