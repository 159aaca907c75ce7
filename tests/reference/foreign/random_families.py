"""Random configurations of today's families: what the program computes of each, beside the module.

    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 random_families.py PROGRAM [--count 60] [--seed 1] [--keep FOLDER]

The sizes, layers, routing and RoPE of DeepSeek-V2 and V3, Qwen3-MoE, Qwen2-MoE, Mixtral, gpt-oss, Gemma 3, OLMo 3, SmolLM3 and
Granite are drawn, and so is the spelling, Transformers 4's or 5's. Every tensor must agree as in run_program.py. Those whose
routing rounding could decide, or that have no experts where a family has some, are left out. What fails is kept in FOLDER.
"""

import argparse
import math
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

from families import deepseek, gpt_oss  # noqa: E402
from families.by_layer import FIVE, kinds  # noqa: E402
from families.llama_family import case, config_json  # noqa: E402
from families.llama_like import LlamaLike, Mlp, our_config  # noqa: E402
from families.mixtures import Mixture, Stacked  # noqa: E402
from parts import frequencies, rotary, yarn_frequencies  # noqa: E402
from run_program import verdict  # noqa: E402

POSITIONS = 256


def number(r, low, high):
    return round(r.uniform(low, high), 3)


def heads(r):
    count = r.choice((1, 2, 4))
    return {"heads": count, "kv_heads": r.choice([n for n in (1, 2, 4) if count % n == 0]), "d_head": r.choice((4, 6, 8))}


def spelled(five, theta, **scaling):
    """RoPE's keys as Transformers 4 or 5 writes them; without scaling: the base alone."""
    if five:
        return {**FIVE, "rope_parameters": {"rope_theta": theta, "rope_type": "default", **scaling}}
    return {"rope_theta": theta, "rope_scaling": scaling or None, "transformers_version": "4.57.0"}


def made(name, architecture, model_type, model, **hf):
    return case(name, name, "drawn", model, config_json(architecture, model_type, model, POSITIONS, **hf),
                our_config(model, POSITIONS))


def deepseek_of(r, name):
    v3, groups = r.random() < 0.6, r.choice((1, 1, 2, 4))
    size = r.choice((2, 3))
    top = r.randint(1, groups)
    five = v3 and r.random() < 0.5
    yarn = {"beta_fast": number(r, 3, 9), "beta_slow": 1.0, "factor": number(r, 2, 9), "mscale": number(r, 0.5, 1.3),
            "mscale_all_dim": number(r, 0.5, 1.3), "original_max_position_embeddings": 64} if not five and r.random() < 0.5 else None
    model = deepseek.DeepSeek(
        nope=r.randint(2, 6), rope=r.choice((2, 4, 6)), v=r.randint(3, 6), rank=r.randint(3, 8), q_rank=r.choice((0, 5, 7)),
        expert_ff=r.randint(3, 6), experts=groups * size, count=r.randint(1, min(3, top * size)), shared=r.randint(0, 2),
        dense=r.randint(0, 1), theta=number(r, 20, 20000), kind="sigmoid" if v3 else "softmax",
        normalize=v3 and r.random() < 0.7, scale=number(r, 0.5, 3), groups=groups, top_groups=top,
        group_best=2 if v3 else 1, yarn=yarn, eps=r.choice((1e-6, 1e-5)), attention_bias=r.random() < 0.3,
        interleaved=not five or r.random() < 0.5)
    hf = {"topk_method": "noaux_tc" if v3 else "group_limited_greedy" if groups > 1 else "greedy"}
    if five:
        hf = {**dict.fromkeys(("moe_layer_freq", "scoring_func", "rope_theta", "rope_scaling", "torch_dtype"), "absent"),
              "dtype": "float32", "rope_interleave": model.c["interleaved"], "transformers_version": "5.0.0",
              "rope_parameters": {"rope_theta": model.c["theta"], "rope_type": "default"}}
    return deepseek.case(name, name, "drawn", "DeepseekV3ForCausalLM" if v3 else "DeepseekV2ForCausalLM",
                         "deepseek_v3" if v3 else "deepseek_v2", model, hf)


def qwen_of(r, name):
    three, layers, experts, ff = r.random() < 0.6, r.randint(1, 4), r.randint(3, 8), r.randint(4, 8)
    step, dense, normalize = r.randint(1, 3), [n for n in range(layers) if r.random() < 0.3], r.random() < 0.5
    assert any(layer not in dense and (layer + 1) % step == 0 for layer in range(layers)), "no experts: refused"
    routing = {"count": r.randint(1, 3), "normalize": normalize}
    five = r.random() < 0.5
    kind = Stacked if five and three else Mixture
    shared = {} if three else {"shared_ff": 9}
    theta, sizes = number(r, 50, 1e6), heads(r) if three else {"heads": 4, "kv_heads": r.choice((1, 2, 4)), "d_head": 4}
    model = LlamaLike(
        **sizes, qkv_bias=not three, qk_norm="head" if three else None, theta=theta, layers=layers,
        feed_forward=lambda c, layer: kind(16, ff, experts, **shared, **routing)
        if layer not in dense and (layer + 1) % step == 0 else Mlp(c))
    more = {"head_dim": sizes["d_head"]} if three else {
        "qkv_bias": True, "shared_expert_intermediate_size": 9, "attention_bias": "absent"}
    return made(name, "Qwen3MoeForCausalLM" if three else "Qwen2MoeForCausalLM", "qwen3_moe" if three else "qwen2_moe", model,
                decoder_sparse_step=step, mlp_only_layers=dense, moe_intermediate_size=ff, norm_topk_prob=normalize,
                num_experts=experts, num_experts_per_tok=routing["count"], use_sliding_window=False,
                **more, **spelled(five, theta))


def mixtral_of(r, name):
    five, experts, count, theta = r.random() < 0.5, r.randint(2, 6), r.randint(1, 2), number(r, 50, 1e6)
    layers, window = r.randint(1, 3), r.choice((0, 2, 3))
    named = {} if five else {"mlp_name": "block_sparse_moe"}

    def feed_forward(c, layer):
        if five:
            return Stacked(16, 24, experts, count=count, normalize=True)
        return Mixture(16, 24, experts, ("w1", "w3", "w2"), count=count, normalize=True)

    model = LlamaLike(**heads(r), eps=1e-5, theta=theta, layers=layers, windows=(window,) * layers, feed_forward=feed_forward,
                      **named)
    return made(name, "MixtralForCausalLM", "mixtral", model, attention_bias="absent", head_dim=model.c["d_head"],
                num_experts_per_tok=count, num_local_experts=experts, sliding_window=window or None, **spelled(five, theta))


def gpt_oss_of(r, name):
    layers, window, limit, theta = r.randint(1, 4), r.choice((1, 2, 4)), number(r, 0.5, 5), number(r, 30, 150000)
    windows = [window if r.random() < 0.5 else 0 for _ in range(layers)]
    sizes, factor, fast, truncate = heads(r), number(r, 2, 30), number(r, 3, 20), r.random() < 0.5
    turn = rotary(yarn_frequencies(sizes["d_head"], theta, factor, 64, fast=fast, truncate=truncate),
                  factor=0.1 * math.log(factor) + 1)
    model = LlamaLike(**sizes, d_model=gpt_oss.D, d_ff=gpt_oss.FF, layers=layers, eps=1e-5, theta=theta, qkv_bias=True, out_bias=True,
                      sinks=True, windows=windows, turns=[turn] * layers, feed_forward=lambda c, layer: gpt_oss.Experts(limit))
    scaling = {"beta_fast": fast, "beta_slow": 1.0, "factor": factor, "original_max_position_embeddings": 64,
               "rope_type": "yarn", "truncate": truncate}
    return made(name, "GptOssForCausalLM", "gpt_oss", model, attention_bias=True, num_experts_per_tok=2,
                num_local_experts=gpt_oss.EXPERTS, head_dim=sizes["d_head"], layer_types=kinds(windows), sliding_window=window,
                swiglu_limit=limit, **spelled(r.random() < 0.5, theta, **scaling))


def gemma_of(r, name):
    layers, size, near, far = r.randint(2, 6), r.choice((1, 2, 3)), number(r, 5, 10000), number(r, 100, 1e6)
    five, pattern, factor, sizes = r.random() < 0.5, r.randint(2, 3), r.choice((1.0, 4.0, 8.0)), heads(r)
    windows = [size if (r.random() < 0.6 if five else (layer + 1) % pattern) else 0 for layer in range(layers)]
    turns = [rotary(frequencies(sizes["d_head"], near)) if size else rotary(frequencies(sizes["d_head"], far) / factor)
             for size in windows]
    scalar = r.choice((3, 5, 8))
    model = LlamaLike(**sizes, plus_one=True, activation="gelu_tanh", scale_embedding=True, tied=True, place="peri",
                      scale=scalar ** -0.5, qk_norm="head", layers=layers, windows=windows, theta=far, turns=turns)
    linear = {"factor": factor, "rope_type": "linear"} if factor != 1.0 else {}
    if five:
        spelling = {**FIVE, "layer_types": kinds(windows), "rope_parameters": {
            "full_attention": {"rope_type": "default", **linear, "rope_theta": far},
            "sliding_attention": {"rope_type": "default", "rope_theta": near}}}
    else:
        spelling = {"rope_local_base_freq": near, "rope_scaling": linear or None, "sliding_window_pattern": pattern}
    return made(name, "Gemma3ForCausalLM", "gemma3_text", model, head_dim=sizes["d_head"], hidden_act="absent",
                hidden_activation="gelu_pytorch_tanh", tie_word_embeddings="absent", query_pre_attn_scalar=scalar,
                sliding_window=size, **spelling)


def olmo_of(r, name):
    layers, size, theta, factor = r.randint(1, 4), r.choice((1, 3)), number(r, 30, 500000), number(r, 2, 9)
    windows = [size if r.random() < 0.5 else 0 for _ in range(layers)]
    sizes, stretch, fast = heads(r), number(r, 0.8, 1.4), number(r, 3, 20)
    plain = rotary(frequencies(sizes["d_head"], theta))
    scaled = rotary(yarn_frequencies(sizes["d_head"], theta, factor, 64, fast=fast), factor=stretch)
    model = LlamaLike(**sizes, qk_norm="width", place="reordered", theta=theta, layers=layers, windows=windows,
                      turns=[plain if size else scaled for size in windows])
    scaling = {"attention_factor": stretch, "beta_fast": fast, "beta_slow": 1.0, "factor": factor,
               "original_max_position_embeddings": 64, "rope_type": "yarn"}
    return made(name, "Olmo3ForCausalLM", "olmo3", model, sliding_window=size, head_dim=sizes["d_head"],
                layer_types=kinds(windows), rope_theta=theta, rope_scaling=scaling)


def smollm_of(r, name):
    layers, theta, five = r.randint(1, 5), number(r, 30, 5e6), r.random() < 0.5
    interval = r.randint(2, 4)
    turned = [int((layer + 1) % interval != 0 if five else r.random() < 0.5) for layer in range(layers)]
    sizes = {**heads(r), "heads": 4, "d_head": 4}
    model = LlamaLike(**sizes, theta=theta, tied=True, layers=layers)
    for layer in range(layers):
        if not turned[layer]:
            model.model.layers[layer].self_attn.turn = lambda x: x
    where = {"no_rope_layer_interval": interval} if five else {"no_rope_layers": turned}
    return made(name, "SmolLM3ForCausalLM", "smollm3", model, mlp_bias=False, use_sliding_window=False, **where,
                **spelled(five, theta))


def granite_of(r, name):
    embedding, update, scale, divided, theta = (number(r, 0.3, 9) for _ in range(5))
    five, theta = r.random() < 0.5, theta * 1000
    sizes = {**heads(r), "heads": 4, "d_head": 4}
    model = LlamaLike(**sizes, theta=theta, tied=r.random() < 0.5, embedding_scale=embedding, update=update, scale=scale,
                      logit_scale=1 / divided, layers=r.randint(1, 3))
    return made(name, "GraniteForCausalLM", "granite", model, attention_multiplier=scale, embedding_multiplier=embedding,
                logits_scaling=divided, mlp_bias=False, residual_multiplier=update, **spelled(five, theta))


FAMILIES = (deepseek_of, qwen_of, mixtral_of, gpt_oss_of, gemma_of, olmo_of, smollm_of, granite_of)


def tried(program, seed, scratch, keep):
    """One word of what became of a configuration, and more of it where that isn't `right`."""
    r, name = random.Random(seed), f"random-{seed}"
    family = FAMILIES[seed % len(FAMILIES)]
    folder = pathlib.Path(scratch) / name
    try:
        family(r, name).write(folder)
    except AssertionError:
        return "left out", ""
    said = verdict(program, folder)[-1]
    if said["result"] == "right":
        return "right", ""
    if keep:
        folder.rename(pathlib.Path(keep) / name)
    return "WRONG", f"{name} {family.__name__}: {said}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.seed, options.seed + options.count):
            word, more = tried(options.program, seed, scratch, options.keep)
            counts[word] = counts.get(word, 0) + 1
            if more:
                print(more, flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if "WRONG" in counts else 0


if __name__ == "__main__":
    sys.exit(main())
