"""What causes what, in torch, for Ask: tabs_causes.json.

For some fixtures, a run A on the fixture's input and a run B on other tokens. "patching" says, for every recorded step and
position, how much of the difference in logits[0, last, 2] − logits[0, last, 0] comes back when that one row of B is put
into A. "attribution" is the direct attribution of logits[1, 1, 3] of A, a term for each head and MLP, by the final norm's
recorded scale. Both are computed in float64. Run: python3 tests/reference/tabs_causes.py
"""

import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import torch

import decoder
import small

HERE = Path(__file__).parent
FIXTURES = ["gpt2-like", "llama-like", "gemma-2-like", "encdec-tokens"]
DIRECT = ["gpt2-like", "llama-like"]  # whose updates reach the final norm as they are


def shifted(tokens, vocab):
    return (tokens + 1) % vocab


def run(case, weights, inputs, edits=()):
    return decoder.run(case.config, weights, inputs, list(edits), None, ())


def rows_along(tensor):
    """The axis of positions: [pos, d], [batch, pos, d], [batch, head, pos, d]."""
    return {2: 0, 3: 1, 4: 2}[tensor.ndim]


def edits_of_row(name, tensor, row):
    """Every cell of one row of batch row 0 as it is in `tensor`."""
    along = rows_along(tensor)
    edits = []
    for index in np.ndindex(*tensor.shape):
        if index[along] == row and (along == 0 or index[0] == 0):
            edits.append({"edit": "set_cell", "tensor": name, "index": list(index), "value": float(tensor[index])})
    return edits


def number(trace):
    return float(trace["logits"][0, -1, 2] - trace["logits"][0, -1, 0])


def patching(case, weights):
    vocab = case.config["vocab_size"]
    other = {name: shifted(value, case.config.get("encoder_vocab_size") or vocab) if name == "encoder_tokens"
             else shifted(value, vocab) if name == "tokens" else value for name, value in case.inputs.items()}
    a, b = run(case, weights, case.inputs), run(case, weights, other)
    back = {}
    for name in a:
        if name in ("logits", "probs"):
            continue
        there = np.asarray(b[name])
        back[name] = [(number(run(case, weights, case.inputs, edits_of_row(name, there, row))) - number(a))
                      / (number(b) - number(a)) for row in range(there.shape[rows_along(there)])]
    return {"in_a": number(a), "in_b": number(b), "back": back}


def attribution(case, weights):
    trace = {name: torch.as_tensor(value).double() for name, value in run(case, weights, case.inputs).items()}
    weights = {name: torch.as_tensor(value).double() for name, value in weights.items()}
    batch, pos, token = 1, 1, 3
    gain = weights["norm.weight"]
    toward = weights["embed.weight" if case.config.get("tie_word_embeddings") else "lm_head.weight"][token]
    centred = case.config.get("norm", "layernorm").startswith("layernorm")
    scale = trace["ln_final.scale"][batch, pos]

    def direct(row):
        return float((((row - row.mean() if centred else row) / scale) * gain) @ toward)

    heads, mlps = {}, {}
    for layer in range(case.config["num_layers"]):
        z = trace[f"blocks.{layer}.attn.z"][batch, :, pos]  # [head, d_head]
        width = z.shape[1]
        o_proj = weights[f"layers.{layer}.self_attn.o_proj.weight"]
        for head in range(z.shape[0]):
            heads[f"{layer}.{head}"] = direct(o_proj[:, head * width:(head + 1) * width] @ z[head])
        mlps[f"{layer}"] = direct(trace[f"blocks.{layer}.mlp_out"][batch, pos])
    return {"logit": float(trace["logits"][batch, pos, token]), "heads": heads, "mlps": mlps}


def main():
    torch.set_num_threads(1)
    cases = {case.name: case for case in small.cases()}
    out = {}
    for name in FIXTURES:
        case = cases[name]
        weights = {key: torch.as_tensor(value).double() for key, value in case.weights.items()}
        out[name] = {"patching": patching(case, weights)}
        if name in DIRECT:
            out[name]["attribution"] = attribution(case, weights)
    (HERE / "tabs_causes.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
