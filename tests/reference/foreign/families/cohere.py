"""Cohere's Command R: one norm without a bias for both sublayers, RoPE over neighbouring columns, scaled logits; and Command R7B
(Cohere 2), whose layers have a window and RoPE, or neither."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.parallel import together
from parts import Stack, attend, frequencies, layer_norm, logits_of, mlp, module, record, rotary, split, window

VOCABULARY, D, HEADS, KV, LAYERS, FF, SCALE = 29, 16, 4, 2, 2, 24, 0.0625


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return layer_norm(at, x, self.weight)


class Block(nn.Module):
    def __init__(self, size=0, turns=True):
        super().__init__()
        self.window, self.turns = size, turns
        narrow = D // HEADS * KV
        widths = {"q_proj": D, "k_proj": narrow, "v_proj": narrow, "o_proj": D}
        self.self_attn = module(**{name: nn.Linear(D, width, bias=False) for name, width in widths.items()})
        self.mlp = module(gate_proj=nn.Linear(D, FF, bias=False), up_proj=nn.Linear(D, FF, bias=False),
                          down_proj=nn.Linear(FF, D, bias=False))
        self.input_layernorm = Norm()

    def attention(self, at, h, keep):
        a, turn = self.self_attn, rotary(frequencies(D // HEADS, 10000.0), interleaved=True)
        turn, keep = turn if self.turns else nn.Identity(), keep & window(h.size(1), self.window) if self.window else keep
        q, k, v = turn(split(a.q_proj(h), HEADS)), turn(split(a.k_proj(h), KV)), split(a.v_proj(h), KV)
        return record(f"{at}_out", a.o_proj(attend(at, q, k, v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        m = self.mlp
        return together(at, x, lambda h: self.attention(f"{at}.attn", h, keep),
                        lambda h: mlp(at, h, m.up_proj, m.down_proj, F.silu, m.gate_proj), self.input_layernorm)


class Cohere(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D), layers=nn.ModuleList(blocks), norm=Norm())
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, inputs):
        m = self.model
        return logits_of(inputs, lambda x: self.lm_head(x) * SCALE,
                         Stack(lambda prefix, tokens: record("embed", m.embed_tokens(tokens)), list(m.layers), m.norm))


def names(layers):
    found = {"model.embed_tokens.weight": "embed.weight", "model.norm.weight": "norm.weight"}
    for layer in range(layers):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        found[theirs + "input_layernorm.weight"] = ours + "norm1.weight"
        for letter in "qkvo":
            found[f"{theirs}self_attn.{letter}_proj.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        for part in ("gate", "up", "down"):
            found[f"{theirs}mlp.{part}_proj.weight"] = f"{ours}{part}_proj.weight"
    return found


def case(name, title, paper, blocks, hf, ours, **more):
    config = {"attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 5, "eos_token_id": 6,
              "hidden_act": "silu", "hidden_size": D, "initializer_range": 0.02, "intermediate_size": FF,
              "layer_norm_eps": 1e-05, "logit_scale": SCALE, "max_position_embeddings": 64,
              "num_attention_heads": HEADS, "num_hidden_layers": len(blocks), "num_key_value_heads": KV,
              "pad_token_id": 0, "rope_theta": 10000.0, "torch_dtype": "float32", "use_cache": True,
              "vocab_size": VOCABULARY, **hf}
    config = {key: value for key, value in config.items() if value != "absent"}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": len(blocks),
            "num_key_value_heads": KV, "dim_feedforward": FF, "norm_first": True, "final_norm": True,
            "activation": "silu", "gated_mlp": True, "bias": False, "vocab_size": VOCABULARY,
            "positional_encoding": "rope", "max_positions": 64, "rope_interleaved": True,
            "parallel_residual": "one_norm", "logit_scale": SCALE, "lm_head": True, "tie_word_embeddings": True, **ours}
    source = {"repository": "huggingface/transformers", "paper": paper}
    return Case(name, title, source, Cohere(blocks), some_inputs(name, VOCABULARY), ours, names(len(blocks)),
                config_json=config, unsaved=("lm_head.weight",), **more)


def cohere2(name, title, hf):
    """Three layers with a window and RoPE, and one with neither."""
    blocks = [Block(3) for _ in range(3)] + [Block(0, turns=False)]
    ours = {"sliding_window": 3, "sliding_window_layers": [0, 1, 2], "rope_layers": [0, 1, 2]}
    return case(name, title, "Cohere 2025, arXiv:2504.00698", blocks,
                {"architectures": ["Cohere2ForCausalLM"], "model_type": "cohere2", "sliding_window": 3, "head_dim": 4, **hf},
                ours, refuses={"use_gated_activation": {"value": False, "because": "the MLP has a gate"},
                               "use_parallel_block": {"value": False, "because": "the block is parallel"}})


def cases():
    four = {"cache_implementation": "hybrid", "order_of_interleaved_layers": "local_attn_first", "layer_switch": 4,
            "position_embedding_type": "rope_gptj", "rope_scaling": None, "rotary_pct": 1.0, "sliding_window_pattern": 4,
            "transformers_version": "4.48.0", "use_embedding_sharing": True, "use_gated_activation": True,
            "use_parallel_block": True, "use_parallel_embedding": False}
    five = {"layer_types": ["sliding_attention"] * 3 + ["full_attention"], "dtype": "float32", "torch_dtype": "absent",
            "rope_theta": "absent", "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
            "tie_word_embeddings": True, "transformers_version": "5.0.0"}
    return [case("cohere", "Cohere's Command R", "Cohere 2024, Command R", [Block() for _ in range(LAYERS)],
                 {"architectures": ["CohereForCausalLM"], "model_type": "cohere", "transformers_version": "4.40.0",
                  "use_qk_norm": False}, {}),
            cohere2("cohere2", "Cohere's Command R7B", four),
            cohere2("cohere2-5", "Cohere's Command R7B, layer_types", five)]
