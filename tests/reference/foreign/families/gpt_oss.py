"""gpt-oss: sinks, windows in every other layer, biased experts with a clamped SwiGLU, YaRN; and its experts as MXFP4."""

import math

import numpy as np
import torch
from torch import nn

from families.llama_family import case, config_json
from families.llama_like import LlamaLike, our_config
from families.routed import mixed, route
from parts import module, record, rotary, yarn_frequencies
from stored import mxfp4

LIMIT, ALPHA, EXPERTS = 1.5, 1.702, 4
D = FF = 32  # a scale of MXFP4 is for 32 numbers


class Experts(nn.Module):
    """Stored [expert, in, out]; the columns of gate and up stand in turn."""

    def __init__(self, limit=LIMIT):
        super().__init__()
        self.limit = torch.tensor(limit)
        self.router = nn.Linear(D, EXPERTS)
        self.experts = module()
        for name, shape in (("gate_up_proj", (EXPERTS, D, 2 * FF)), ("gate_up_proj_bias", (EXPERTS, 2 * FF)),
                            ("down_proj", (EXPERTS, FF, D)), ("down_proj_bias", (EXPERTS, D))):
            setattr(self.experts, name, nn.Parameter(torch.empty(shape)))

    def expert(self, number, row):
        e = self.experts
        both = row @ e.gate_up_proj[number] + e.gate_up_proj_bias[number]
        gate, pre = both[0::2], both[1::2]
        g, u = torch.minimum(gate, self.limit), torch.clip(pre, -self.limit, self.limit)
        post = g / (1 + torch.exp(-ALPHA * g)) * (u + 1)
        return pre, gate, post, post @ e.down_proj[number] + e.down_proj_bias[number]

    def forward(self, at, x):
        chosen, weight = route(f"{at}.mlp", self.router(x), 2, normalize=True)
        return record(f"{at}.mlp_out", mixed(f"{at}.mlp", x, chosen, weight, self.expert))

    def names(self, theirs, ours):
        e, how = theirs + "experts.", "of each expert"
        return {theirs + "router.weight": ours + "router.weight", theirs + "router.bias": ours + "router.bias",
                e + "gate_up_proj": ours + f"experts.{{gate,up}}_proj.weight, {how}, in turn, transposed",
                e + "gate_up_proj_bias": ours + f"experts.{{gate,up}}_proj.bias, {how}, in turn",
                e + "down_proj": ours + f"experts.down_proj.weight, {how}, transposed",
                e + "down_proj_bias": ours + "experts.down_proj.bias"}


def model():
    turn = rotary(yarn_frequencies(12, 60.0, 4.0, 64, fast=5.0, truncate=False), factor=0.1 * math.log(4.0) + 1)
    return LlamaLike(d_model=D, heads=4, kv_heads=2, d_head=12, d_ff=FF, eps=1e-5, theta=60.0, qkv_bias=True, out_bias=True,
                     sinks=True, windows=(3, 0), turns=[turn] * 2, feed_forward=lambda c, layer: Experts())


def gpt_oss(name, title, five=False, **more):
    made = model()
    scaling = {"beta_fast": 5.0, "beta_slow": 1.0, "factor": 4.0, "original_max_position_embeddings": 64,
               "rope_type": "yarn", "truncate": False}
    spelling = {"rope_theta": "absent", "rope_scaling": "absent", "rope_parameters": {**scaling, "rope_theta": 60.0},
                "torch_dtype": "absent", "dtype": "float32", "transformers_version": "5.0.0"} if five else {
                    "rope_scaling": scaling, "transformers_version": "4.55.0"}
    hf = config_json("GptOssForCausalLM", "gpt_oss", made, 256, attention_bias=True, experts_per_token=2, head_dim=12,
                     initial_context_length=64, layer_types=["sliding_attention", "full_attention"],
                     num_experts_per_tok=2, num_local_experts=EXPERTS, output_router_logits=False, pad_token_id=28,
                     router_aux_loss_coef=0.9, sliding_window=3, swiglu_limit=LIMIT, **spelling, **more.pop("hf", {}))
    ours = our_config(made, 256, experts=EXPERTS, experts_per_token=2, expert_dim_feedforward=FF, router_normalize=True,
                      activation="swiglu_clamped", swiglu_limit=LIMIT, attention_sinks=True, sliding_window=3,
                      sliding_window_layers=[0], rope_scaling="yarn", rope_factor=4.0, rope_original_positions=64,
                      rope_beta_fast=5.0, rope_truncate=False)
    return case(name, title, "arXiv:2508.10925", made, hf, ours,
                refuses={"layer_types": {"value": ["chunked_attention", "full_attention"], "because": "another mask"}}, **more)


def quantised():
    """The same with the experts' matrices as they are published: two numbers a byte, a scale for 32 of them."""
    made = gpt_oss("gpt-oss-mxfp4", "gpt-oss, the experts as MXFP4", hf={"quantization_config": {
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
                                   "lm_head"], "quant_method": "mxfp4"}})
    packed = {}
    for layer in made.module.model.layers:
        for name in ("gate_up_proj", "down_proj"):
            parameter = getattr(layer.mlp.experts, name)
            blocks, scales = mxfp4.pack(parameter.detach().numpy().swapaxes(1, 2))  # [expert, out, in]
            parameter.data = torch.from_numpy(mxfp4.expand(blocks, scales).swapaxes(1, 2).copy())
            packed[id(parameter)] = blocks, scales
    where = {name: packed[id(parameter)] for name, parameter in made.module.named_parameters() if id(parameter) in packed}

    def store(stored):
        found = {}
        for name, value in stored.items():
            if name in where:
                found[name + "_blocks"], found[name + "_scales"] = where[name]
            else:
                found[name] = value
        return found

    made.store = store
    made.stored_as = ("experts' matrices as MXFP4, turned: NAME_blocks U8 [expert, out, in / 32, 16], NAME_scales U8 "
                      "[expert, out, in / 32]")
    return made


def cases():
    return [gpt_oss("gpt-oss", "gpt-oss"), gpt_oss("gpt-oss-5", "gpt-oss, YaRN in rope_parameters", True), quantised()]
