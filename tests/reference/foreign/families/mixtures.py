"""Mixtral, Qwen2-MoE and Qwen3-MoE: Llama's block with a mixture of experts, one tensor an expert or stacked."""

import torch
import torch.nn.functional as F
from torch import nn

from families.llama_family import case, config_json
from families.llama_like import LlamaLike, Mlp, our_config
from families.routed import Plain, mixed, route, shared, through
from parts import module, record


class Mixture(nn.Module):
    """`gate` is the router; `names` are an expert's matrices: gate, up, down."""

    def __init__(self, d, ff, experts, names=("gate_proj", "up_proj", "down_proj"), shared_ff=0, **routing):
        super().__init__()
        self.gate = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList([Plain(d, ff, names) for _ in range(experts)])
        self.order, self.routing = names, routing
        if shared_ff:
            self.shared_expert, self.shared_expert_gate = Plain(d, shared_ff), nn.Linear(d, 1, bias=False)

    def expert(self, number, row):
        gate, up, down = (getattr(self.experts[number], name) for name in self.order)
        return through(up, gate, down, F.silu, row)

    def forward(self, at, x):
        chosen, weight = route(f"{at}.mlp", self.gate(x), **self.routing)
        out = mixed(f"{at}.mlp", x, chosen, weight, self.expert)
        if hasattr(self, "shared_expert"):
            out = out + shared(f"{at}.mlp", x, self.shared_expert, self.shared_expert_gate)
        return record(f"{at}.mlp_out", out)

    def names(self, theirs, ours):
        found = {theirs + "gate.weight": ours + "router.weight"}
        for number in range(len(self.experts)):
            for name, part in zip(self.order, ("gate", "up", "down")):
                found[f"{theirs}experts.{number}.{name}.weight"] = f"{ours}experts.{part}_proj.weight, expert {number}"
        if hasattr(self, "shared_expert"):
            for part in ("gate", "up", "down"):
                found[f"{theirs}shared_expert.{part}_proj.weight"] = f"{ours}shared.{part}_proj.weight"
            found[theirs + "shared_expert_gate.weight"] = ours + "shared_gate.weight"
        return found


class Stacked(nn.Module):
    """Transformers 5's own form: the gate's rows and then up's, of all experts in one tensor."""

    def __init__(self, d, ff, experts, **routing):
        super().__init__()
        self.gate, self.routing, self.ff = nn.Linear(d, experts, bias=False), routing, ff
        self.experts = module()
        self.experts.gate_up_proj = nn.Parameter(torch.empty(experts, 2 * ff, d))
        self.experts.down_proj = nn.Parameter(torch.empty(experts, d, ff))

    def expert(self, number, row):
        both = self.experts.gate_up_proj[number] @ row
        gate, pre = both[:self.ff], both[self.ff:]
        post = F.silu(gate) * pre
        return pre, gate, post, self.experts.down_proj[number] @ post

    def forward(self, at, x):
        chosen, weight = route(f"{at}.mlp", self.gate(x), **self.routing)
        return record(f"{at}.mlp_out", mixed(f"{at}.mlp", x, chosen, weight, self.expert))

    def names(self, theirs, ours):
        return {theirs + "gate.weight": ours + "router.weight",
                theirs + "experts.gate_up_proj": ours + "experts.{gate,up}_proj.weight, of each expert",
                theirs + "experts.down_proj": ours + "experts.down_proj.weight"}


def mixtral():
    model = LlamaLike(kv_heads=2, eps=1e-5, theta=1000000.0, mlp_name="block_sparse_moe",
                      feed_forward=lambda c, layer: Mixture(16, 24, 4, ("w1", "w3", "w2"), count=2, normalize=True))
    hf = config_json("MixtralForCausalLM", "mixtral", model, 64, attention_bias="absent", rope_scaling="absent",
                     num_experts_per_tok=2, num_local_experts=4, output_router_logits=False, router_aux_loss_coef=0.02,
                     router_jitter_noise=0.0, sliding_window=None, transformers_version="4.36.0")
    return case("mixtral", "Mixtral", "arXiv:2401.04088", model, hf,
                our_config(model, 64, experts=4, experts_per_token=2, expert_dim_feedforward=24, router_normalize=True))


def mixtral_5():
    model = LlamaLike(kv_heads=2, eps=1e-5, theta=1000000.0,
                      feed_forward=lambda c, layer: Stacked(16, 24, 4, count=2, normalize=True))
    hf = config_json("MixtralForCausalLM", "mixtral", model, 64, attention_bias="absent", rope_scaling="absent",
                     rope_theta="absent", rope_parameters={"rope_theta": 1000000.0, "rope_type": "default"}, head_dim=None,
                     num_experts_per_tok=2, num_local_experts=4, output_router_logits=False, router_aux_loss_coef=0.02,
                     router_jitter_noise=0.0, sliding_window=None, torch_dtype="absent", dtype="float32",
                     transformers_version="5.0.0")
    return case("mixtral-5", "Mixtral, its experts stacked", "arXiv:2401.04088", model, hf,
                our_config(model, 64, experts=4, experts_per_token=2, expert_dim_feedforward=24, router_normalize=True))


def qwen2_moe():
    """Four layers, of which the second and the fourth would have experts by their step; the fourth is said to be dense."""
    model = LlamaLike(kv_heads=4, qkv_bias=True, theta=1000000.0, layers=4,
                      feed_forward=lambda c, layer: Mixture(16, 6, 6, shared_ff=10, count=3) if layer == 1 else Mlp(c))
    hf = config_json("Qwen2MoeForCausalLM", "qwen2_moe", model, 64, attention_bias="absent", decoder_sparse_step=2,
                     max_window_layers=21, mlp_only_layers=[3], moe_intermediate_size=6, norm_topk_prob=False,
                     num_experts=6, num_experts_per_tok=3, output_router_logits=False, qkv_bias=True,
                     router_aux_loss_coef=0.001, shared_expert_intermediate_size=10, sliding_window=4,
                     use_sliding_window=False)
    return case("qwen2-moe", "Qwen1.5-MoE and Qwen2-MoE", "arXiv:2407.10671", model, hf,
                our_config(model, 64, experts=6, experts_per_token=3, expert_dim_feedforward=6, moe_layers=[1],
                           shared_dim_feedforward=10, shared_gate=True))


def qwen3_moe(name, title, five):
    kind = Stacked if five else Mixture
    model = LlamaLike(kv_heads=2, d_head=6, qk_norm="head", theta=1000000.0,
                      feed_forward=lambda c, layer: kind(16, 8, 8, count=3, normalize=True))
    spelling = {"rope_theta": "absent", "rope_scaling": "absent", "torch_dtype": "absent", "dtype": "float32",
                "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}, "transformers_version": "5.0.0",
                } if five else {"transformers_version": "4.51.0"}
    hf = config_json("Qwen3MoeForCausalLM", "qwen3_moe", model, 64, decoder_sparse_step=1, head_dim=6, max_window_layers=2,
                     mlp_only_layers=[], moe_intermediate_size=8, norm_topk_prob=True, num_experts=8,
                     num_experts_per_tok=3, output_router_logits=False, router_aux_loss_coef=0.001, sliding_window=None,
                     use_sliding_window=False, **spelling)
    return case(name, title, "arXiv:2505.09388", model, hf,
                our_config(model, 64, qk_norm=True, experts=8, experts_per_token=3, expert_dim_feedforward=8,
                           router_normalize=True))


def cases():
    return [mixtral(), mixtral_5(), qwen2_moe(), qwen3_moe("qwen3-moe", "Qwen3-MoE", False),
            qwen3_moe("qwen3-moe-5", "Qwen3-MoE, its experts stacked", True)]
