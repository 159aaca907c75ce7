"""DeepSeek-V2 and V3, Moonlight and Kimi K2: latent attention, shared and routed experts, scores that a correction shifts for
the choice only; and V3's matrices as FP8."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.llama_like import Norm
from families.routed import Plain, mixed, route, shared, through
from parts import Stack, attend, frequencies, logits_of, mlp, module, record, rms_norm, rotary, split, sums, yarn_frequencies
from stored import fp8

VOCABULARY, D, HEADS, LAYERS, POSITIONS = 29, 16, 2, 2, 256
DEFAULTS = {"nope": 4, "rope": 6, "v": 5, "rank": 6, "q_rank": 0, "d_ff": 24, "expert_ff": 6, "experts": 4, "count": 2,
            "shared": 1, "dense": 1, "theta": 40.0, "kind": "softmax", "normalize": False, "scale": 1.0, "groups": 1,
            "top_groups": 1, "group_best": 2, "yarn": None, "eps": 1e-6, "attention_bias": False, "interleaved": True}
YARN = {"beta_fast": 5.0, "beta_slow": 1.0, "factor": 6.0, "mscale": 0.707, "mscale_all_dim": 1.2,
        "original_max_position_embeddings": 64}


def mscale(factor, by):
    return 0.1 * by * math.log(factor) + 1.0


def scales(c):
    """What q·k is multiplied by, and what cos and sin are: YaRN's mscales."""
    plain, y = (c["nope"] + c["rope"]) ** -0.5, c["yarn"]
    if y is None:
        return plain, 1.0
    whole = mscale(y["factor"], y["mscale_all_dim"])
    return plain * whole * whole, mscale(y["factor"], y["mscale"]) / whole


def turning(c):
    y = c["yarn"]
    if y is None:
        return rotary(frequencies(c["rope"], c["theta"]), c["interleaved"])
    turned = yarn_frequencies(c["rope"], c["theta"], y["factor"], y["original_max_position_embeddings"], y["beta_fast"])
    return rotary(turned, c["interleaved"], scales(c)[1])


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, bias = c, c["attention_bias"]
        if c["q_rank"]:
            self.q_a_proj = nn.Linear(D, c["q_rank"], bias=bias)
            self.q_a_layernorm = Norm(c["q_rank"], 1e-6)
            self.q_b_proj = nn.Linear(c["q_rank"], HEADS * (c["nope"] + c["rope"]), bias=False)
        else:
            self.q_proj = nn.Linear(D, HEADS * (c["nope"] + c["rope"]), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(D, c["rank"] + c["rope"], bias=bias)
        self.kv_a_layernorm = Norm(c["rank"], 1e-6)
        self.kv_b_proj = nn.Linear(c["rank"], HEADS * (c["nope"] + c["v"]), bias=False)
        self.o_proj = nn.Linear(HEADS * c["v"], D, bias=bias)

    def forward(self, at, x, keep):
        c, turn = self.c, turning(self.c)
        if c["q_rank"]:
            q = self.q_b_proj(record(f"{at}.q_latent", self.q_a_layernorm(None, self.q_a_proj(x))))
        else:
            q = self.q_proj(x)
        latent, shared_k = self.kv_a_proj_with_mqa(x).split((c["rank"], c["rope"]), -1)
        latent = record(f"{at}.kv_latent", self.kv_a_layernorm(None, latent))
        shared_k = record(f"{at}.k_shared", turn(shared_k[:, None]))
        q, kv = split(q, HEADS), split(self.kv_b_proj(latent), HEADS)
        q = torch.cat((q[..., :c["nope"]], turn(q[..., c["nope"]:])), -1)
        k = torch.cat((kv[..., :c["nope"]], shared_k.expand(-1, HEADS, -1, -1)), -1)
        z = attend(at, q, k, kv[..., c["nope"]:], keep, scales(c)[0])
        return record(f"{at}_out", self.o_proj(z))


class Router(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(c["experts"], D))
        if c["kind"] == "sigmoid":
            self.register_parameter("e_score_correction_bias", nn.Parameter(torch.ones(c["experts"])))


class Experts(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.gate = c, Router(c)
        self.experts = nn.ModuleList([Plain(D, c["expert_ff"]) for _ in range(c["experts"])])
        if c["shared"]:
            self.shared_experts = Plain(D, c["expert_ff"] * c["shared"])

    def expert(self, number, row):
        e = self.experts[number]
        return through(e.up_proj, e.gate_proj, e.down_proj, F.silu, row)

    def forward(self, at, x):
        c = self.c
        correction = getattr(self.gate, "e_score_correction_bias", None)
        chosen, weight = route(f"{at}.mlp", x @ self.gate.weight.T, c["count"], c["kind"], c["normalize"], c["scale"],
                               correction, c["groups"], c["top_groups"], c["group_best"])
        out = mixed(f"{at}.mlp", x, chosen, weight, self.expert)
        return record(f"{at}.mlp_out", out + shared(f"{at}.mlp", x, self.shared_experts) if c["shared"] else out)


class Dense(Plain):
    def forward(self, at, x):
        return mlp(at, x, self.up_proj, self.down_proj, F.silu, self.gate_proj)


class Block(nn.Module):
    def __init__(self, c, layer):
        super().__init__()
        self.self_attn = Attention(c)
        self.mlp = Dense(D, c["d_ff"]) if layer < c["dense"] else Experts(c)
        self.input_layernorm, self.post_attention_layernorm = Norm(D, c["eps"]), Norm(D, c["eps"])

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.self_attn(f"{at}.attn", h, keep), self.input_layernorm),
                            ("resid_post", lambda h: self.mlp(at, h), self.post_attention_layernorm)], "pre")


class DeepSeek(nn.Module):
    def __init__(self, **chosen):
        super().__init__()
        self.c = c = {**DEFAULTS, **chosen}
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D), norm=Norm(D, c["eps"]),
                            layers=nn.ModuleList([Block(c, layer) for layer in range(LAYERS)]))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        m = self.model
        return logits_of(inputs, self.lm_head, Stack(lambda prefix, tokens: record("embed", m.embed_tokens(tokens)),
                                                     list(m.layers), m.norm))


def names(model):
    renamed = {"q_proj": "q_proj", "q_a_proj": "q_down_proj", "q_a_layernorm": "q_down_norm", "q_b_proj": "q_up_proj",
               "kv_a_proj_with_mqa": "kv_down_proj", "kv_a_layernorm": "kv_down_norm", "o_proj": "o_proj"}
    found = {}
    for key in model.state_dict():
        ours = key.removeprefix("model.").replace("embed_tokens", "embed").replace(".mlp.shared_experts.", ".shared.")
        ours = ours.replace("post_attention_layernorm", "norm2").replace("input_layernorm", "norm1")
        ours = ours.replace(".mlp.gate.weight", ".router.weight")
        ours = ours.replace(".mlp.gate.e_score_correction_bias", ".router.correction")
        if ".self_attn." in key:
            before, name, ending = ours.rsplit(".", 2)
            ours = (f"{before}.{{k_up,v_up}}_proj.{ending}, by head" if name == "kv_b_proj" else
                    f"{before}.{renamed[name]}.{ending}")
        if ".mlp.experts." in ours:
            before, rest = ours.split(".mlp.experts.")
            number, part = rest.split(".", 1)
            ours = f"{before}.experts.{part}, expert {number}"
        found[key] = ours.replace(".mlp.", ".")
    return found


def case(name, title, paper, architecture, model_type, model, hf, **more):
    c = model.c
    y = c["yarn"]
    config = {"architectures": [architecture], "attention_bias": c["attention_bias"], "attention_dropout": 0.0,
              "bos_token_id": 0, "eos_token_id": 1, "first_k_dense_replace": c["dense"], "hidden_act": "silu",
              "hidden_size": D, "initializer_range": 0.02, "intermediate_size": c["d_ff"], "kv_lora_rank": c["rank"],
              "max_position_embeddings": POSITIONS, "model_type": model_type, "moe_intermediate_size": c["expert_ff"],
              "moe_layer_freq": 1, "n_group": c["groups"], "n_routed_experts": c["experts"], "n_shared_experts":
              c["shared"] or None, "norm_topk_prob": c["normalize"], "num_attention_heads": HEADS,
              "num_experts_per_tok": c["count"], "num_hidden_layers": LAYERS, "num_key_value_heads": HEADS,
              "q_lora_rank": c["q_rank"] or None, "qk_nope_head_dim": c["nope"], "qk_rope_head_dim": c["rope"],
              "rms_norm_eps": c["eps"], "rope_scaling": {**y, "type": "yarn"} if y else None, "rope_theta": c["theta"],
              "routed_scaling_factor": c["scale"], "scoring_func": c["kind"], "tie_word_embeddings": False,
              "topk_group": c["top_groups"], "torch_dtype": "float32", "transformers_version": "4.39.3", "use_cache": True,
              "v_head_dim": c["v"], "vocab_size": VOCABULARY, **hf}
    config = {key: value for key, value in config.items() if value != "absent"}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": c["d_ff"],
            "norm_first": True, "norm": "rmsnorm", "layer_norm_eps": c["eps"], "final_norm": True, "activation": "silu",
            "gated_mlp": True, "bias": c["attention_bias"], "vocab_size": VOCABULARY, "positional_encoding": "rope",
            "max_positions": POSITIONS, "rope_theta": c["theta"], "rope_interleaved": c["interleaved"], "lm_head": True,
            "head_dim": c["nope"] + c["rope"], "kv_lora_rank": c["rank"], "q_lora_rank": c["q_rank"],
            "qk_rope_head_dim": c["rope"], "v_head_dim": c["v"], "experts": c["experts"], "experts_per_token": c["count"],
            "expert_dim_feedforward": c["expert_ff"], "moe_layers": list(range(c["dense"], LAYERS)), "router": c["kind"],
            "router_normalize": c["normalize"], "router_scale": c["scale"], "router_groups": c["groups"],
            "router_top_groups": c["top_groups"], "router_group_best": c["group_best"], "shared_dim_feedforward": c["expert_ff"] * c["shared"]}
    if y:
        scale, factor = scales(c)
        ours.update(attention_scale=scale, rope_scaling="yarn", rope_factor=y["factor"], rope_beta_fast=y["beta_fast"],
                    rope_original_positions=y["original_max_position_embeddings"], rope_attention_factor=factor)
    return Case(name, title, {"repository": "huggingface/transformers", "paper": paper}, model,
                some_inputs(name, VOCABULARY), ours, names(model), config_json=config, **more)


def v2():
    model = DeepSeek(scale=1.5, shared=2, yarn=YARN)
    return case("deepseek-v2", "DeepSeek-V2-Lite", "arXiv:2405.04434", "DeepseekV2ForCausalLM", "deepseek_v2", model,
                {"aux_loss_alpha": 0.001, "ep_size": 1, "pretraining_tp": 1, "seq_aux": True, "topk_method": "greedy"},
                refuses={"topk_method": {"value": "random", "because": "another choice"},
                         "moe_layer_freq": {"value": 2, "because": "experts in every other layer"}})


def v2_groups():
    """The large one: of groups by their best expert, queries from a latent row."""
    model = DeepSeek(scale=16.0, shared=2, q_rank=7, experts=8, count=3, groups=4, top_groups=2, group_best=1)
    return case("deepseek-v2-groups", "DeepSeek-V2: groups by their best expert", "arXiv:2405.04434",
                "DeepseekV2ForCausalLM", "deepseek_v2", model,
                {"aux_loss_alpha": 0.001, "ep_size": 1, "pretraining_tp": 1, "seq_aux": True,
                 "topk_method": "group_limited_greedy"},
                refuses={"topk_method": {"value": "noaux_tc", "because": "no correction in this family"}})


def v3_model(**more):
    return DeepSeek(**{**dict(q_rank=7, experts=8, count=3, expert_ff=4, kind="sigmoid", normalize=True, scale=2.5,
                              groups=4, top_groups=2), **more})


def v3():
    return case("deepseek-v3", "DeepSeek-V3", "arXiv:2412.19437", "DeepseekV3ForCausalLM", "deepseek_v3",
                v3_model(yarn={**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}),
                {"aux_loss_alpha": 0.001, "ep_size": 1, "num_nextn_predict_layers": 0, "pretraining_tp": 1, "seq_aux": True,
                 "topk_method": "noaux_tc"},
                refuses={"topk_method": {"value": "group_limited_greedy", "because": "groups by their best one"},
                         "scoring_func": {"value": "softplus", "because": "another score"}})


def v3_5():
    """As Transformers 5 writes it: no remote code's keys, rope_parameters, pairs that are halves, biases."""
    model = v3_model(attention_bias=True, interleaved=False)
    absent = dict.fromkeys(("moe_layer_freq", "scoring_func", "rope_theta", "rope_scaling", "torch_dtype"), "absent")
    return case("deepseek-v3-5", "DeepSeek-V3's kind, halves turned, biases", "arXiv:2412.19437", "DeepseekV3ForCausalLM",
                "deepseek_v3", model,
                {**absent, "dtype": "float32", "head_dim": 6, "pretraining_tp": 1, "qk_head_dim": 10, "rope_interleave": False,
                 "rope_parameters": {"rope_theta": 40.0, "rope_type": "default"}, "transformers_version": "5.0.0"})


def kimi():
    return case("kimi-k2", "Kimi K2: no groups", "arXiv:2507.20534", "DeepseekV3ForCausalLM", "kimi_k2",
                v3_model(groups=1, top_groups=1, experts=6, count=2),
                {"aux_loss_alpha": 0.001, "ep_size": 1, "num_nextn_predict_layers": 0, "seq_aux": True,
                 "topk_method": "noaux_tc"})


def v3_fp8():
    """Matrices as they are published: a byte a number, a scale for a block of 128 × 128, the last ones cut."""
    model = v3_model(d_ff=144)
    made = case("deepseek-v3-fp8", "DeepSeek-V3, its matrices as FP8", "arXiv:2412.19437", "DeepseekV3ForCausalLM",
                "deepseek_v3", model,
                {"aux_loss_alpha": 0.001, "ep_size": 1, "num_nextn_predict_layers": 0, "pretraining_tp": 1, "seq_aux": True,
                 "topk_method": "noaux_tc", "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3",
                                                                    "quant_method": "fp8", "weight_block_size": [128, 128]}})
    packed = {}
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear) and name != "lm_head":
            codes, scale = fp8.pack(part.weight.detach().numpy())
            part.weight.data = torch.from_numpy(fp8.expand(codes, scale))
            packed[name + ".weight"] = codes, scale

    def store(stored):
        found = {}
        for name, value in stored.items():
            if name in packed:
                found[name], found[name + "_scale_inv"] = packed[name][0].view(fp8.STORED), packed[name][1]
            else:
                found[name] = value
        return found

    made.store = store
    made.stored_as = "matrices as F8_E4M3; NAME_scale_inv is the factor of each block of 128 × 128"
    return made


def cases():
    return [v2(), v2_groups(), v3(), v3_5(), kimi(), v3_fp8()]
