"""Cohere's Command R: one norm without a bias for both sublayers, RoPE over neighbouring columns, scaled logits."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.parallel import together
from parts import Stack, attend, frequencies, layer_norm, logits_of, mlp, module, record, rotary, split

VOCABULARY, D, HEADS, KV, LAYERS, FF, SCALE = 29, 16, 4, 2, 2, 24, 0.0625


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        narrow = D // HEADS * KV
        widths = {"q_proj": D, "k_proj": narrow, "v_proj": narrow, "o_proj": D}
        self.self_attn = module(**{name: nn.Linear(D, width, bias=False) for name, width in widths.items()})
        self.mlp = module(gate_proj=nn.Linear(D, FF, bias=False), up_proj=nn.Linear(D, FF, bias=False),
                          down_proj=nn.Linear(FF, D, bias=False))
        self.input_layernorm = Norm()

    def attention(self, at, h, keep):
        a, turn = self.self_attn, rotary(frequencies(D // HEADS, 10000.0), interleaved=True)
        q, k, v = turn(split(a.q_proj(h), HEADS)), turn(split(a.k_proj(h), KV)), split(a.v_proj(h), KV)
        return record(f"{at}_out", a.o_proj(attend(at, q, k, v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        m = self.mlp
        return together(at, x, lambda h: self.attention(f"{at}.attn", h, keep),
                        lambda h: mlp(at, h, m.up_proj, m.down_proj, F.silu, m.gate_proj), self.input_layernorm)


class Cohere(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D),
                            layers=nn.ModuleList([Block() for _ in range(LAYERS)]), norm=Norm())
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, inputs):
        m = self.model
        return logits_of(inputs, lambda x: self.lm_head(x) * SCALE,
                         Stack(lambda prefix, tokens: record("embed", m.embed_tokens(tokens)), list(m.layers), m.norm))


def cases():
    found = {"model.embed_tokens.weight": "embed.weight", "model.norm.weight": "norm.weight"}
    for layer in range(LAYERS):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        found[theirs + "input_layernorm.weight"] = ours + "norm1.weight"
        for letter in "qkvo":
            found[f"{theirs}self_attn.{letter}_proj.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        for part in ("gate", "up", "down"):
            found[f"{theirs}mlp.{part}_proj.weight"] = f"{ours}{part}_proj.weight"
    hf = {"architectures": ["CohereForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 5,
          "eos_token_id": 6, "hidden_act": "silu", "hidden_size": D, "initializer_range": 0.02, "intermediate_size": FF,
          "layer_norm_eps": 1e-05, "logit_scale": SCALE, "max_position_embeddings": 64, "model_type": "cohere",
          "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "num_key_value_heads": KV, "pad_token_id": 0,
          "rope_theta": 10000.0, "torch_dtype": "float32", "transformers_version": "4.40.0", "use_cache": True,
          "use_qk_norm": False, "vocab_size": VOCABULARY}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "num_key_value_heads": KV,
            "dim_feedforward": FF, "norm_first": True, "final_norm": True, "activation": "silu", "gated_mlp": True,
            "bias": False, "vocab_size": VOCABULARY, "positional_encoding": "rope", "max_positions": 64,
            "rope_interleaved": True, "parallel_residual": "one_norm", "logit_scale": SCALE, "lm_head": True,
            "tie_word_embeddings": True}
    source = {"repository": "huggingface/transformers", "paper": "Cohere 2024, Command R"}
    return [Case("cohere", "Cohere's Command R", source, Cohere(), some_inputs("cohere", VOCABULARY), ours, found,
                 config_json=hf, unsaved=("lm_head.weight",))]
