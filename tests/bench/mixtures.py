"""A mixture of experts and a latent cache beside PyTorch: parts of against_torch.py.

First a pass over a text through mixtures with more and more experts, of which two a position are chosen: what a step costs
follows the chosen, not the experts. Then a text continued a token at a time, with latent attention's cache.
PyTorch is given its best: for the mixture, either one product for each expert that was chosen, over its positions alone, or
the chosen experts' matrices gathered for each position; for the cache, keys and values kept as they are made, or the latent
rows alone with the projection of the keys folded into the queries. The fastest counts, in one thread and in all. Both must give the
same numbers before anything is timed. Medians, and their ratio; below 1 is in our favour.
"""

import json
import os
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F

import safetensors_file
from config import complete
from random_weights import random_weights, write_model

SHARED = {"d_model": 256, "nhead": 8, "num_layers": 4, "norm_first": True, "norm": "rmsnorm", "final_norm": True,
          "activation": "silu", "gated_mlp": True, "bias": False, "vocab_size": 1000, "lm_head": True}
MIXTURE = {**SHARED, "dim_feedforward": 512, "experts_per_token": 2, "router_normalize": True}
LATENT = {**SHARED, "dim_feedforward": 1024, "kv_lora_rank": 64, "qk_rope_head_dim": 16, "v_head_dim": 32, "head_dim": 48}
EXPERTS, TEXT, PROMPT, WRITTEN = (4, 16, 64), 64, 256, 64


def rms(x, gain, eps=1e-5):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gain


class Decoder:
    def __init__(self, config, weights):
        self.c, self.w = complete(config), weights

    def norm(self, x, name):
        return rms(x, self.w[name + ".weight"], self.c["layer_norm_eps"])

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"])


class Mixture(Decoder):
    """A row of tokens [pos] -> logits [pos, vocab]."""

    def __init__(self, config, weights, gathers):
        super().__init__(config, weights)
        self.gathers = gathers
        for layer in range(self.c["num_layers"]):
            at = f"layers.{layer}."
            self.w[at + "qkv.weight"] = torch.cat([weights[f"{at}self_attn.{x}_proj.weight"] for x in "qkv"])
            stacked = [weights[f"{at}experts.{x}_proj.weight"] for x in ("gate", "up")]
            self.w[at + "gate_up"] = torch.cat(stacked, 1)

    def attention(self, x, at):
        heads = self.c["nhead"]
        q, k, v = self.linear(x, at + "qkv").view(len(x), 3, heads, -1).permute(1, 2, 0, 3)
        hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        pattern = (q @ k.transpose(-1, -2) * q.size(-1) ** -0.5).masked_fill(hidden, float("-inf")).softmax(-1)
        return self.linear((pattern @ v).transpose(0, 1).flatten(1), at + "self_attn.o_proj")

    def experts(self, x, at):
        weight, chosen = self.linear(x, at + "router").softmax(-1).topk(self.c["experts_per_token"])
        weight = weight / weight.sum(-1, keepdim=True)
        both, down = self.w[at + "gate_up"], self.w[at + "experts.down_proj.weight"]
        if self.gathers:
            gate, up = (both[chosen] @ x[:, None, :, None]).squeeze(-1).chunk(2, -1)
            out = (down[chosen] @ (F.silu(gate) * up)[..., None]).squeeze(-1)
            return (weight[..., None] * out).sum(1)
        out = torch.zeros_like(x)
        for expert in chosen.unique().tolist():
            rows, slots = (chosen == expert).nonzero(as_tuple=True)
            gate, up = F.linear(x[rows], both[expert]).chunk(2, -1)
            out.index_add_(0, rows, F.linear(F.silu(gate) * up, down[expert]) * weight[rows, slots, None])
        return out

    def __call__(self, tokens):
        x = F.embedding(tokens, self.w["embed.weight"])
        for layer in range(self.c["num_layers"]):
            at = f"layers.{layer}."
            x = x + self.attention(self.norm(x, at + "norm1"), at)
            x = x + self.experts(self.norm(x, at + "norm2"), at)
        return self.linear(self.norm(x, "norm"), "lm_head")


class Latent(Decoder):
    """Continues a row of tokens. `folded`: only latent rows are kept, and queries are projected to them."""

    def __init__(self, config, weights, folded):
        super().__init__(config, weights)
        self.folded, self.kept = folded, [None] * self.c["num_layers"]

    def attention(self, x, layer, hidden):
        c, at = self.c, f"layers.{layer}.self_attn."
        heads, rank, shared = c["nhead"], c["kv_lora_rank"], c["qk_rope_head_dim"]
        own = c["head_dim"] - shared
        q = self.linear(x, at + "q_proj").view(len(x), heads, -1).transpose(0, 1)
        latent, k_shared = self.linear(x, at + "kv_down_proj").split((rank, shared), -1)
        latent = self.norm(latent, at + "kv_down_norm")
        k_up = self.w[at + "k_up_proj.weight"].view(heads, own, rank)
        v_up = self.w[at + "v_up_proj.weight"].view(heads, -1, rank)
        if self.folded:
            new = (latent, k_shared)
        else:
            k = torch.cat((latent @ k_up.transpose(1, 2), k_shared.expand(heads, -1, -1)), -1)
            new = (k, latent @ v_up.transpose(1, 2))
        if self.kept[layer] is not None:
            new = tuple(torch.cat(pair, -2) for pair in zip(self.kept[layer], new))
        self.kept[layer] = new
        if self.folded:
            latent, k_shared = new
            scores = q[..., :own] @ k_up @ latent.T + q[..., own:] @ k_shared.T
        else:
            scores = q @ new[0].transpose(1, 2)
        scores = scores * c["head_dim"] ** -0.5
        pattern = (scores if hidden is None else scores.masked_fill(hidden, float("-inf"))).softmax(-1)
        z = pattern @ latent @ v_up.transpose(1, 2) if self.folded else pattern @ new[1]
        return self.linear(z.transpose(0, 1).flatten(1), at + "o_proj")

    def read(self, tokens):
        x = F.embedding(tokens, self.w["embed.weight"])
        hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(1) if len(x) > 1 else None
        for layer in range(self.c["num_layers"]):
            at = f"layers.{layer}."
            x = x + self.attention(self.norm(x, at + "norm1"), layer, hidden)
            h = self.norm(x, at + "norm2")
            x = x + self.linear(F.silu(self.linear(h, at + "gate_proj")) * self.linear(h, at + "up_proj"), at + "down_proj")
        return self.linear(self.norm(x[-1:], "norm"), "lm_head")

    def write(self, prompt, count):
        """The tokens, and milliseconds of each step behind the prompt's."""
        self.kept = [None] * self.c["num_layers"]
        tokens, took = [int(self.read(prompt).argmax())], []
        for _ in range(count - 1):
            start = time.perf_counter()
            tokens.append(int(self.read(torch.tensor(tokens[-1:])).argmax()))
            took.append((time.perf_counter() - start) * 1e3)
        return tokens, took


def ran(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def median_ms(work, threads):
    torch.set_num_threads(threads)
    times = []
    for _ in range(9):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def measure_mixture(program, folder, experts, rounds):
    config = {**MIXTURE, "experts": experts}
    weights = random_weights(complete(config))
    write_model(folder, config, weights)
    tokens = torch.randint(1000, (1, TEXT), generator=torch.Generator().manual_seed(1))
    inputs = folder / "inputs.safetensors"
    safetensors_file.save(inputs, {"tokens": tokens.numpy()})
    trace = folder / "trace.safetensors"
    ran(program, "trace", folder, "--inputs", inputs, "--out", trace)
    ours = torch.from_numpy(safetensors_file.load(trace)["logits"])[0]
    works = {}
    for gathers in (False, True):
        decoder = Mixture(config, dict(weights), gathers)
        difference = (decoder(tokens[0]) - ours).abs().max() / ours.abs().max()
        assert difference < 2e-5, difference
        for threads in sorted({1, os.cpu_count()}):
            works[("gathered" if gathers else "by expert", threads)] = decoder
    times = {key: [] for key in ["ours", *works]}
    for _ in range(rounds):
        times["ours"].append(json.loads(ran(program, "bench", folder, "--inputs", inputs, "--repeat", 9, "--json"))["forward_ms"])
        for key, decoder in works.items():
            times[key].append(median_ms(lambda: decoder(tokens[0]), key[1]))
    medians = {key: statistics.median(values) for key, values in times.items()}
    return medians.pop("ours"), min(medians.items(), key=lambda entry: entry[1])


def measure_latent(program, folder, rounds):
    weights = random_weights(complete(LATENT))
    write_model(folder, LATENT, weights)
    prompt = torch.randint(1000, (1, PROMPT), generator=torch.Generator().manual_seed(2))
    inputs = folder / "inputs.safetensors"
    safetensors_file.save(inputs, {"tokens": prompt.numpy()})

    said = json.loads(ran(program, "generate", folder, "--inputs", inputs, "--length", WRITTEN, "--json"))
    written = said["rows"][0]["generated"]
    decoders = {folded: Latent(LATENT, dict(weights), folded) for folded in (False, True)}
    for decoder in decoders.values():
        assert decoder.write(prompt[0], WRITTEN)[0] == written, "other tokens"
    times = {"ours": [], **{(folded, n): [] for folded in decoders for n in sorted({1, os.cpu_count()})}}
    for _ in range(rounds):
        bench = ran(program, "bench", folder, "--inputs", inputs, "--repeat", 1, "--length", WRITTEN - 1, "--json")
        times["ours"].append(json.loads(bench)["token_ms"])
        for (folded, threads) in list(times)[1:]:
            torch.set_num_threads(threads)
            times[(folded, threads)].append(statistics.median(decoders[folded].write(prompt[0], WRITTEN)[1]))
    medians = {key: statistics.median(values) for key, values in times.items()}
    return medians.pop("ours"), min(medians.items(), key=lambda entry: entry[1])


def measure_experts(program, scratch, rounds):
    """A pass through a mixture by the number of its experts, and a token behind a latent cache: yields what is timed, our
    time, PyTorch's, and its quickest way."""
    with torch.inference_mode():
        for experts in EXPERTS:
            ours, (way, theirs) = measure_mixture(program, scratch / f"experts-{experts}", experts, rounds)
            yield f"{TEXT} tokens, each to 2 of {experts} experts", ours, theirs, f"{way[0]}, threads: {way[1]}"
        ours, (way, theirs) = measure_latent(program, scratch / "latent", rounds)
        kept = "latent rows" if way[0] else "keys and values"
        yield f"a token behind {PROMPT}, latent cache", ours, theirs, f"{kept} kept, threads: {way[1]}"
    torch.set_num_threads(os.cpu_count())
