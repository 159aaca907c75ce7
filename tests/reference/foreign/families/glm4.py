"""GLM-4: norms before and after each sublayer, gate and up in one matrix, and RoPE of neighbouring columns on half of a head."""

import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.llama_family import config_json
from families.llama_like import Attention, LlamaLike, Norm, our_config
from parts import frequencies, mlp, module, rotary, sums

NORMS = {"input_layernorm": "norm1", "post_self_attn_layernorm": "norm1_post", "post_attention_layernorm": "norm2",
         "post_mlp_layernorm": "norm2_post"}


class Block(nn.Module):
    def __init__(self, c, layer, size):
        super().__init__()
        self.half = c["d_ff"]
        self.self_attn = Attention(c, c["turns"][layer])
        self.mlp = module(gate_up_proj=nn.Linear(c["d_model"], 2 * c["d_ff"], bias=False),
                          down_proj=nn.Linear(c["d_ff"], c["d_model"], bias=False))
        for name in NORMS:
            setattr(self, name, Norm(c["d_model"], c["eps"]))

    def feed_forward(self, at, h):
        both = self.mlp.gate_up_proj(h)
        return mlp(at, h, lambda _: both[..., self.half:], self.mlp.down_proj, F.silu, lambda _: both[..., :self.half])

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.self_attn(f"{at}.attn", h, keep), self.input_layernorm,
                             self.post_self_attn_layernorm),
                            ("resid_post", lambda h: self.feed_forward(at, h), self.post_attention_layernorm,
                             self.post_mlp_layernorm)], "peri")


def names(layers):
    found = {"model.embed_tokens.weight": "embed.weight", "model.norm.weight": "norm.weight",
             "lm_head.weight": "lm_head.weight"}
    for layer in range(layers):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        for part in [f"{letter}_proj.{ending}" for letter in "qkv" for ending in ("weight", "bias")] + ["o_proj.weight"]:
            found[f"{theirs}self_attn.{part}"] = f"{ours}self_attn.{part}"
        found[theirs + "mlp.gate_up_proj.weight"] = ours + "{gate,up}_proj.weight"
        found[theirs + "mlp.down_proj.weight"] = ours + "down_proj.weight"
        for name, norm in NORMS.items():
            found[f"{theirs}{name}.weight"] = f"{ours}{norm}.weight"
    return found


def cases():
    turned = rotary(frequencies(4, 10000.0), interleaved=True)  # the first half of a head
    model = LlamaLike(heads=2, d_head=8, kv_heads=1, eps=1.5625e-7, qkv_bias=True, turns=[turned] * 2, block=Block)
    # As Transformers 5 writes it.
    hf = config_json("Glm4ForCausalLM", "glm4", model, 64, attention_bias=True, head_dim=8, rope_theta="absent",
                     rope_scaling="absent", torch_dtype="absent", dtype="float32", pad_token_id=0, partial_rotary_factor=0.5,
                     rope_parameters={"rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 0.5},
                     transformers_version="5.17.0")
    ours = our_config(model, 64, norm_placement="peri", rope_interleaved=True, rotary_dim=4)
    ours.pop("norm_first")
    return [Case("glm4", "GLM-4", {"repository": "huggingface/transformers", "paper": "arXiv:2406.12793"}, model,
                 some_inputs("glm4", model.c["vocabulary"]), ours, names(2), config_json=hf)]
