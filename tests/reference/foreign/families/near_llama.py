"""The families that are a step away from Llama: OLMo, OLMoE, Ministral and Ministral 3, Seed-OSS, Helium, Arcee, Nemotron, EXAONE 4,
Apertus, Hunyuan's dense one, Granite's and Phi's mixtures, GLM-4.5. Each with the config.json that Transformers 5 writes."""

import torch
import torch.nn.functional as F
from torch import nn

from families.by_layer import FIVE, kinds
from families.deepseek import Experts as Corrected
from families.llama_family import case, config_json
from families.llama_like import LlamaLike, Mlp, our_config
from families.mixtures import Mixture
from families.routed import mixed, route, through
from parts import frequencies, llama3_frequencies, module, record, rotary, yarn_frequencies

BUFFERS = {"beta": "the same ½ in every file", "eps": "the same −1e-6 in every file"}


def config(architecture, model_type, model, rope, **more):
    """`rope` is beside rope_theta; attention_bias is left out by "absent"."""
    return config_json(architecture, model_type, model, 64, **{
        **FIVE, "rope_parameters": {"rope_theta": model.c["theta"], "rope_type": "default", **rope}, "pad_token_id": 1,
        "transformers_version": "5.17.0", **more})


def routing_keys(experts, count):
    return {"num_experts_per_tok": count, "num_local_experts": experts, "output_router_logits": False,
            "router_aux_loss_coef": 0.001}


def olmo():
    model = LlamaLike(kv_heads=2, centred="bare", eps=1e-5, clip=0.5)
    hf = config("OlmoForCausalLM", "olmo", model, {}, clip_qkv=0.5, rms_norm_eps="absent")
    return case("olmo", "OLMo", "arXiv:2402.00838", model, hf, our_config(model, 64))


def olmoe():
    model = LlamaLike(kv_heads=2, eps=1e-5, clip=0.6, qk_norm="width",
                      feed_forward=lambda c, layer: Mixture(16, 24, 5, count=2))
    hf = config("OlmoeForCausalLM", "olmoe", model, {}, clip_qkv=0.6, norm_topk_prob=False, num_experts=5,
                num_experts_per_tok=2, output_router_logits=False, router_aux_loss_coef=0.01)
    return case("olmoe", "OLMoE", "arXiv:2409.02060", model, hf,
                our_config(model, 64, qk_norm=True, qk_norm_across_heads=True, experts=5, experts_per_token=2,
                           expert_dim_feedforward=24))


def ministral():
    model = LlamaLike(kv_heads=2, d_head=6, windows=(3, 0), theta=1000.0)
    hf = config("MinistralForCausalLM", "ministral", model, {}, attention_bias="absent", head_dim=6, sliding_window=3,
                layer_types=kinds((3, 0)))
    return case("ministral", "Ministral 8B", "Mistral AI 2024", model, hf,
                our_config(model, 64, sliding_window=3, sliding_window_layers=[0]))


def ministral3():
    yarn = {"beta_fast": 3.0, "beta_slow": 1.0, "factor": 16.0, "original_max_position_embeddings": 4}
    turn = rotary(yarn_frequencies(8, 50.0, 16.0, 4, fast=3.0))
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1e-5, theta=50.0, turns=[turn] * 2, grows=(0.3, 4))
    hf = config("Ministral3ForCausalLM", "ministral3", model, {
        **yarn, "rope_type": "yarn", "type": "yarn", "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.3,
        "max_position_embeddings": 64}, attention_bias="absent", head_dim=8, sliding_window=None)
    return case("ministral3", "Ministral 3", "arXiv:2601.08584", model, hf,
                our_config(model, 64, rope_scaling="yarn", rope_factor=16.0, rope_original_positions=4, rope_beta_fast=3.0,
                           rope_attention_factor=1.0),
                refuses={"layer_types": {"value": ["chunked_attention"] * 2, "because": "Llama 4's"}})


def seed_oss():
    model = LlamaLike(kv_heads=2, d_head=6, qkv_bias=True, mlp_bias=True)
    hf = config("SeedOssForCausalLM", "seed_oss", model, {}, attention_bias=True, attention_out_bias=False, attention_dropout=0.1,
                residual_dropout=0.1, head_dim=6, mlp_bias=True, pretraining_tp=1)
    return case("seed-oss", "Seed-OSS", "ByteDance Seed 2025", model, hf, our_config(model, 64))


def helium():
    turn = rotary(frequencies(4, 100000.0), interleaved=True)
    model = LlamaLike(kv_heads=2, eps=1e-8, theta=100000.0, turns=[turn] * 2)
    hf = config("HeliumForCausalLM", "helium", model, {}, head_dim=4, mlp_bias=False)
    return case("helium", "Helium", "arXiv:2410.00037", model, hf, our_config(model, 64, rope_interleaved=True))


def arcee():
    model = LlamaLike(kv_heads=2, eps=1e-5, gated=False, activation="relu2", qkv_bias=True, out_bias=True)
    hf = config("ArceeForCausalLM", "arcee", model, {}, attention_bias=True, head_dim=4, hidden_act="relu2", mlp_bias=False)
    return case("arcee", "Arcee's AFM", "Arcee AI 2025", model, hf, our_config(model, 64))


def nemotron():
    turn = rotary(frequencies(4, 10000.0))  # the first half of a head
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1e-5, gated=False, activation="relu2", centred="plus_one",
                      turns=[turn] * 2)
    hf = config("NemotronForCausalLM", "nemotron", model, {"partial_rotary_factor": 0.5}, head_dim=8, hidden_act="relu2",
                mlp_bias=False, norm_eps=1e-5, partial_rotary_factor=0.5, rms_norm_eps="absent")
    return case("nemotron", "Nemotron-4 and Minitron", "arXiv:2402.16819", model, hf, our_config(model, 64, rotary_dim=4))


def exaone4():
    still, turn = (lambda x: x), rotary(frequencies(4, 1000.0))
    model = LlamaLike(kv_heads=2, eps=1e-5, theta=1000.0, qk_norm="head", place="reordered", windows=(3, 3, 0), layers=3,
                      turns=[turn, turn, still])
    hf = config("Exaone4ForCausalLM", "exaone4", model, {}, attention_bias="absent", layer_types=kinds((3, 3, 0)),
                sliding_window=3, sliding_window_pattern="LLG")
    return case("exaone4", "EXAONE 4.0", "arXiv:2507.11407", model, hf,
                our_config(model, 64, norm_placement="reordered", qk_norm=True, sliding_window=3,
                           sliding_window_layers=[0, 1], rope_layers=[0, 1]))


def exaone4_full():
    model = LlamaLike(kv_heads=2, eps=1e-5, qk_norm="head", place="reordered")
    hf = config("Exaone4ForCausalLM", "exaone4", model, {}, attention_bias="absent", layer_types=kinds((0, 0)),
                sliding_window=None, sliding_window_pattern=0)
    return case("exaone4-full", "EXAONE 4.0 without windows", "arXiv:2507.11407", model, hf,
                our_config(model, 64, norm_placement="reordered", qk_norm=True))


def apertus():
    scaling = {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 32}
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1e-5, theta=50.0, qk_norm="head", place="named", gated=False,
                      activation="xielu", frequencies=llama3_frequencies(8, 50.0, scaling))
    hf = config("ApertusForCausalLM", "apertus", model, {**scaling, "rope_type": "llama3"}, hidden_act="xielu")
    return case("apertus", "Apertus", "arXiv:2509.14233", model, hf,
                our_config(model, 64, qk_norm=True, rope_scaling="llama3", rope_factor=8.0, rope_low_freq_factor=1.0,
                           rope_high_freq_factor=4.0, rope_original_positions=32),
                skipped={f"model.layers.{layer}.mlp.act_fn.{name}": why for layer in range(2) for name, why in BUFFERS.items()})


def hunyuan():
    alpha, width = 30.0, 6
    model = LlamaLike(kv_heads=2, d_head=width, eps=1e-5, theta=100.0, qk_norm="turned",
                      qk_names=("query_layernorm", "key_layernorm"), qkv_bias=True, out_bias=True,
                      frequencies=frequencies(width, 100.0 * alpha ** (width / (width - 2))))
    hf = config("HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", model, {
        "alpha": alpha, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "rope_type": "dynamic",
        "type": "dynamic"}, attention_bias=True, eod_token_id=3, head_dim=width, pretraining_tp=1)
    return case("hunyuan-v1-dense", "Hunyuan's dense models", "Tencent 2025", model, hf,
                our_config(model, 64, rope_theta=100.0 * alpha ** 1.5),
                refuses={"rope_parameters": {"value": {"rope_theta": 100.0, "rope_type": "dynamic", "factor": 2.0},
                                             "because": "depends on the length of the text"}})


class Packed(nn.Module):
    """Granite's experts: gate and up in one tensor, and the router's matrix in a layer of its own."""

    def __init__(self, d, ff, experts, count):
        super().__init__()
        self.ff, self.count = ff, count
        self.router = module(layer=nn.Linear(d, experts, bias=False))
        self.input_linear, self.output_linear = module(), module()
        self.input_linear.weight = nn.Parameter(torch.empty(experts, 2 * ff, d))
        self.output_linear.weight = nn.Parameter(torch.empty(experts, d, ff))

    def expert(self, number, row):
        gate, pre = (self.input_linear.weight[number] @ row).split(self.ff)
        post = F.silu(gate) * pre
        return pre, gate, post, self.output_linear.weight[number] @ post

    def forward(self, at, x):
        chosen, weight = route(f"{at}.mlp", self.router.layer(x), self.count, normalize=True)
        return record(f"{at}.mlp_out", mixed(f"{at}.mlp", x, chosen, weight, self.expert))

    def names(self, theirs, ours):
        return {theirs + "router.layer.weight": ours + "router.weight",
                theirs + "input_linear.weight": ours + "experts.{gate,up}_proj.weight, of each expert",
                theirs + "output_linear.weight": ours + "experts.down_proj.weight"}


def granitemoe():
    model = LlamaLike(kv_heads=2, tied=True, embedding_scale=6.0, update=0.3, scale=0.25, logit_scale=1 / 4.0,
                      mlp_name="block_sparse_moe", feed_forward=lambda c, layer: Packed(16, 24, 4, 2))
    hf = config("GraniteMoeForCausalLM", "granitemoe", model, {}, attention_multiplier=0.25, embedding_multiplier=6.0,
                logits_scaling=4.0, residual_multiplier=0.3, **routing_keys(4, 2))
    return case("granitemoe", "Granite 3's mixtures", "Granite Team, IBM 2024", model, hf,
                our_config(model, 64, embedding_scale=6.0, update_scale=0.3, attention_scale=0.25, logit_scale=0.25, experts=4,
                           experts_per_token=2, expert_dim_feedforward=24, router_normalize=True))


class Sparse(Mixture):
    """Phi-3.5-MoE's: the best two, each weighed among the experts that nearly tie with it."""

    JITTER = 0.3

    def forward(self, at, x):
        logits = record(f"{at}.mlp.router_scores", record(f"{at}.mlp.router_logits", self.gate(x)))
        chosen, weight = torch.zeros(*x.shape[:2], 2, dtype=torch.long), torch.zeros(*x.shape[:2], 2)
        for b in range(len(x)):
            for p in range(x.size(1)):
                row, left = logits[b, p].tolist(), list(range(logits.size(-1)))
                for slot in range(2):
                    best = max(left, key=lambda expert: row[expert])
                    gaps = [(row[best] - row[e]) / max(abs(row[e]), row[best]) for e in left]
                    assert all(abs(gap - 2 * self.JITTER) > 1e-4 for gap in gaps), "so near that rounding decides"
                    near = [e for e, gap in zip(left, gaps) if gap <= 2 * self.JITTER]
                    chosen[b, p, slot] = best
                    weight[b, p, slot] = torch.softmax(logits[b, p, near], 0)[near.index(best)]
                    left.remove(best)
        record(f"{at}.mlp.expert", chosen.float())
        record(f"{at}.mlp.expert_weight", weight)
        return record(f"{at}.mlp_out", mixed(f"{at}.mlp", x, chosen, weight, self.expert))


def phimoe():
    short, long = [1.0, 1.3], [1.7, 2.5]
    turn = rotary(frequencies(4, 10000.0) / torch.tensor(long), factor=1.2)  # the text is longer than 4
    model = LlamaLike(kv_heads=2, eps=1e-5, centred="whole", qkv_bias=True, out_bias=True, head_bias=True, turns=[turn] * 2,
                      mlp_name="block_sparse_moe",
                      feed_forward=lambda c, layer: Sparse(16, 24, 5, ("w1", "w3", "w2")))
    hf = config("PhimoeForCausalLM", "phimoe", model, {
        "rope_type": "longrope", "type": "longrope", "short_factor": short, "long_factor": long, "short_mscale": 1.2,
        "long_mscale": 1.2, "original_max_position_embeddings": 4}, attention_bias=True, input_jitter_noise=0.0,
        lm_head_bias=True, original_max_position_embeddings=4, router_jitter_noise=Sparse.JITTER, sliding_window=None,
        **routing_keys(5, 2))
    return case("phimoe", "Phi-3.5-MoE", "arXiv:2404.14219", model, hf,
                our_config(model, 64, experts=5, experts_per_token=2, expert_dim_feedforward=24, router="sparsemixer",
                           router_jitter=Sparse.JITTER, rope_scaling="longrope", rope_factor=64 / 4, rope_original_positions=4,
                           rope_short_factors=short, rope_long_factors=long, rope_attention_factor=1.2),
                refuses={"num_experts_per_tok": {"value": 3, "because": "sparsemixer chooses two"}})


def glm4_moe():
    turn = rotary(frequencies(4, 10000.0))  # the first half of a head
    parts = {"experts": 4, "kind": "sigmoid", "expert_ff": 6, "shared": 1, "count": 2, "normalize": True, "scale": 1.5, "groups": 1,
             "top_groups": 1, "group_best": 2}

    class Routed(Corrected):
        def names(self, theirs, ours):
            return {theirs + name: ours + (name.replace("shared_experts", "shared") if "shared" in name else
                                           "router.weight" if name == "gate.weight" else
                                           "router.correction" if name.startswith("gate") else
                                           f"experts.{name.split('.')[2]}.weight, expert {name.split('.')[1]}")
                    for name in self.state_dict()}

    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1e-5, qk_norm="head", qkv_bias=True, turns=[turn] * 2,
                      feed_forward=lambda c, layer: Routed(parts) if layer else Mlp(c))
    hf = config("Glm4MoeForCausalLM", "glm4_moe", model, {"partial_rotary_factor": 0.5}, attention_bias=True, first_k_dense_replace=1,
                head_dim=8, moe_intermediate_size=6, n_group=1, n_routed_experts=4, n_shared_experts=1, norm_topk_prob=True,
                num_experts_per_tok=2, num_nextn_predict_layers=0, partial_rotary_factor=0.5, routed_scaling_factor=1.5, topk_group=1,
                use_qk_norm=True)
    return case("glm4-moe", "GLM-4.5", "arXiv:2508.06471", model, hf,
                our_config(model, 64, qk_norm=True, rotary_dim=4, experts=4, experts_per_token=2, expert_dim_feedforward=6,
                           moe_layers=[1], router="sigmoid", router_normalize=True, router_scale=1.5, shared_dim_feedforward=6))


def cases():
    return [olmo(), olmoe(), ministral(), ministral3(), seed_oss(), helium(), arcee(), nemotron(), exaone4(), exaone4_full(),
            apertus(), hunyuan(), granitemoe(), phimoe(), glm4_moe()]
