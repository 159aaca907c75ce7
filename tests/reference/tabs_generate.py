"""What the Generate tab shows, by PyTorch: tabs_generate.json.

Sampling: probabilities after temperature, top-k and top-p, in the order and by the rules of Hugging Face's transformers
(logits over the temperature; logits below the k-th largest to -inf; sorted upwards, tokens whose running sum of
probabilities stays within 1 - p to -inf, but the last never; softmax).
Numbers: the uniform number that a token is drawn with, from rng.py's hash.
Logit lens: the final norm and the head, by torch.nn.functional, on what the fixtures' traces say left each block.
Run: python3 tests/reference/tabs_generate.py
"""

import json
from pathlib import Path

import torch
from torch.nn import functional

import rng
import safetensors_file

HERE = Path(__file__).parent
SETTINGS = [(1, 0, 1), (0.7, 0, 1), (1.5, 0, 1), (1, 5, 1), (1, 0, 0.9), (0.8, 6, 0.8), (2, 1, 1), (1, 0, 0.01), (1, 100, 0.5)]
LENSES = ["gpt2-like", "llama-like", "encdec-tokens", "causal-lm"]


def sampled(logits, temperature, k, p):
    scores = logits.double() / temperature
    if k > 0:
        least = torch.topk(scores, min(k, len(scores))).values[-1]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if p < 1:
        ascending, order = torch.sort(scores, descending=False)
        removed = ascending.softmax(-1).cumsum(-1) <= 1 - p
        removed[-1:] = False
        scores = scores.masked_fill(removed.scatter(0, order, removed), -torch.inf)
    return scores.softmax(-1)


def sampling():
    generator = torch.Generator().manual_seed(3)
    normal = torch.randn(24, generator=generator) * 2
    ties = torch.tensor([1.0, 3.0, 3.0, -torch.inf, 3.0, 2.0, -1.0])
    cases = []
    for logits in (normal, ties):
        for temperature, k, p in SETTINGS:
            if logits is ties and p < 1:
                continue  # which of equal tokens top-p keeps is left to the sort
            after = sampled(logits, temperature, k, p)
            cases.append(
                {
                    "logits": [None if x == -torch.inf else x for x in logits.tolist()],
                    "temperature": temperature,
                    "top_k": k,
                    "top_p": p,
                    "before": logits.double().softmax(-1).tolist(),
                    "after": after.tolist(),
                }
            )
    return cases


def lens(model):
    folder = HERE / "fixtures" / model
    config = json.loads((folder / "config.json").read_text())
    trace = {name: torch.from_numpy(t) for name, t in safetensors_file.load(folder / "expected.safetensors").items()}
    if (folder / "model.safetensors").exists():
        weights = safetensors_file.load(folder / "model.safetensors")
    else:
        weights = rng.initial_weights(config, json.loads((folder / "run.json").read_text())["weights_seed"])
    weights = {name: torch.from_numpy(t) for name, t in weights.items()}
    width, eps = config["d_model"], config.get("layer_norm_eps", 1e-5)

    def final_norm(x):
        if not config.get("final_norm"):
            return x
        if config.get("norm") == "rmsnorm":
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weights["norm.weight"]
        return functional.layer_norm(x, (width,), weights["norm.weight"], weights.get("norm.bias"), eps)

    def head(x):
        name = "embed.weight" if config.get("tie_word_embeddings") else "lm_head.weight"
        return functional.linear(x, weights[name], weights.get("lm_head.bias"))

    # Pre-Norm's stream leaves a block as resid_post; Post-Norm's is normalised once more.
    last_norm = "ln3" if config.get("cross_attention") else "ln2"
    left = {"embed": trace["blocks.0.resid_pre"]}
    for layer in range(config["num_layers"]):
        name = f"blocks.{layer}"
        left[name] = trace[f"{name}.resid_post" if config.get("norm_first") else f"{name}.{last_norm}.normalized"]
    return {name: head(final_norm(x))[0].tolist() for name, x in left.items()}


def main():
    numbers = [
        {
            "seed": seed,
            "row": row,
            "position": position,
            "number": float(rng.RandomStream(seed, f"next_token.{row}").uniform(position)[0]),
        }
        for seed, row, position in [(0, 0, 1), (0, 0, 2), (7, 0, 1), (7, 3, 40), (2**40, 1, 0)]
    ]
    out = {"sampling": sampling(), "numbers": numbers, "lens": {model: lens(model) for model in LENSES}}
    lines = []
    for section, items in out.items():
        if isinstance(items, list):
            body = "[\n" + ",\n".join(f"  {json.dumps(item)}" for item in items) + "\n ]"
        else:
            body = "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in items.items()) + "\n }"
        lines.append(f" {json.dumps(section)}: {body}")
    (HERE / "tabs_generate.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
