"""OPT: positions begin at row 2 of their table."""

import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from families.parallel import both
from parts import Stack, attend, logits_of, mlp, module, record, split, sums

VOCABULARY, D, HEADS, LAYERS, FF, POSITIONS = 29, 16, 4, 2, 24, 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = module(**{name: nn.Linear(D, D) for name in ("k_proj", "v_proj", "q_proj", "out_proj")})
        self.self_attn_layer_norm = nn.LayerNorm(D)
        self.fc1, self.fc2 = nn.Linear(D, FF), nn.Linear(FF, D)
        self.final_layer_norm = nn.LayerNorm(D)

    def attention(self, at, h, keep):
        a = self.self_attn
        q, k, v = (split(linear(h), HEADS) for linear in (a.q_proj, a.k_proj, a.v_proj))
        return record(f"{at}_out", a.out_proj(attend(at, q, k, v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep),
                             normed(self.self_attn_layer_norm)),
                            ("resid_post", lambda h: mlp(at, h, self.fc1, self.fc2, F.relu),
                             normed(self.final_layer_norm))],
                    "pre")


class OPT(nn.Module):
    def __init__(self):
        super().__init__()
        decoder = module(embed_tokens=nn.Embedding(VOCABULARY, D), embed_positions=nn.Embedding(POSITIONS + 2, D),
                         final_layer_norm=nn.LayerNorm(D), layers=nn.ModuleList([Block() for _ in range(LAYERS)]))
        self.model = module(decoder=decoder)
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = decoder.embed_tokens.weight

    def embed(self, prefix, tokens):
        d = self.model.decoder
        return record("embed", d.embed_tokens(tokens)) + record("pos_embed",
                                                                d.embed_positions.weight[2:2 + tokens.size(1)])

    def forward(self, inputs):
        d = self.model.decoder
        return logits_of(inputs, self.lm_head, Stack(self.embed, list(d.layers), normed(d.final_layer_norm)))


def cases():
    found = {"model.decoder.embed_tokens.weight": "embed.weight",
             "model.decoder.embed_positions.weight": "pos_embed.weight, rows from 2"}
    both(found, "model.decoder.final_layer_norm", "norm")
    for layer in range(LAYERS):
        theirs, ours = f"model.decoder.layers.{layer}.", f"layers.{layer}."
        for letter, name in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
            both(found, f"{theirs}self_attn.{name}", f"{ours}self_attn.{letter}_proj")
        both(found, theirs + "self_attn_layer_norm", ours + "norm1")
        both(found, theirs + "fc1", ours + "up_proj")
        both(found, theirs + "fc2", ours + "down_proj")
        both(found, theirs + "final_layer_norm", ours + "norm2")
    hf = {"_remove_final_layer_norm": False, "activation_dropout": 0.0, "activation_function": "relu",
          "architectures": ["OPTForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 2,
          "do_layer_norm_before": True,
          "dropout": 0.1, "enable_bias": True, "eos_token_id": 2, "ffn_dim": FF, "hidden_size": D, "init_std": 0.02,
          "layer_norm_elementwise_affine": True, "layerdrop": 0.0, "max_position_embeddings": POSITIONS,
          "model_type": "opt",
          "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "pad_token_id": 1, "prefix": "</s>",
          "torch_dtype": "float16", "transformers_version": "4.27.0", "use_cache": True, "vocab_size": VOCABULARY,
          "word_embed_proj_dim": D}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "norm_first": True, "final_norm": True, "activation": "relu", "vocab_size": VOCABULARY,
            "positional_encoding": "learned", "max_positions": POSITIONS, "lm_head": True, "tie_word_embeddings": True}
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2205.01068"}
    return [Case("opt", "OPT", source, OPT(), some_inputs("opt", VOCABULARY, padding=False), ours, found,
                 config_json=hf,
                 unsaved=("lm_head.weight",), dtype="F16")]
