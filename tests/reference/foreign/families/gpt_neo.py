"""GPT-Neo (TinyStories): scores that aren't scaled, a window on every other block, and c_fc that is [out, in] after all."""

import torch
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from families.parallel import both
from parts import Stack, attend, gelu_tanh, logits_of, mlp, module, record, split, sums, window

VOCABULARY, D, HEADS, LAYERS, POSITIONS, WINDOW = 29, 16, 4, 2, 16, 3


class Block(nn.Module):
    def __init__(self, local):
        super().__init__()
        self.local = local
        self.ln_1, self.ln_2 = nn.LayerNorm(D), nn.LayerNorm(D)
        inner = module(**{name: nn.Linear(D, D, bias=False) for name in ("k_proj", "v_proj", "q_proj")},
                       out_proj=nn.Linear(D, D))
        inner.register_buffer("bias", torch.ones(1, 1, POSITIONS, POSITIONS, dtype=torch.bool).tril())
        inner.register_buffer("masked_bias", torch.tensor(-1e9))
        self.attn = module(attention=inner)
        self.mlp = module(c_fc=nn.Linear(D, 4 * D), c_proj=nn.Linear(4 * D, D))

    def attention(self, at, h, keep):
        a = self.attn.attention
        q, k, v = (split(linear(h), HEADS) for linear in (a.q_proj, a.k_proj, a.v_proj))
        if self.local:
            keep = keep & window(h.size(1), WINDOW)
        return record(f"{at}_out", a.out_proj(attend(at, q, k, v, keep, scale=1.0)))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), normed(self.ln_1)),
                            ("resid_post", lambda h: mlp(at, h, self.mlp.c_fc, self.mlp.c_proj, gelu_tanh),
                             normed(self.ln_2))], "pre")


class GPTNeo(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = nn.ModuleList([Block(layer % 2 == 1) for layer in range(LAYERS)])
        self.transformer = module(wte=nn.Embedding(VOCABULARY, D), wpe=nn.Embedding(POSITIONS, D), h=blocks,
                                  ln_f=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def embed(self, prefix, tokens):
        t = self.transformer
        return record("embed", t.wte(tokens)) + record("pos_embed", t.wpe.weight[:tokens.size(1)])

    def forward(self, inputs):
        t = self.transformer
        return logits_of(inputs, self.lm_head, Stack(self.embed, list(t.h), normed(t.ln_f)))


def cases():
    found = {"transformer.wte.weight": "embed.weight", "transformer.wpe.weight": "pos_embed.weight"}
    skipped = {}
    for layer in range(LAYERS):
        theirs, ours = f"transformer.h.{layer}.", f"layers.{layer}."
        both(found, theirs + "ln_1", ours + "norm1")
        for letter in "qkv":
            found[f"{theirs}attn.attention.{letter}_proj.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        both(found, theirs + "attn.attention.out_proj", ours + "self_attn.o_proj")
        both(found, theirs + "ln_2", ours + "norm2")
        both(found, theirs + "mlp.c_fc", ours + "up_proj")
        both(found, theirs + "mlp.c_proj", ours + "down_proj")
        skipped[theirs + "attn.attention.bias"] = "the causal mask"
        skipped[theirs + "attn.attention.masked_bias"] = "what masked scores are set to"
    both(found, "transformer.ln_f", "norm")
    hf = {"activation_function": "gelu_new", "architectures": ["GPTNeoForCausalLM"], "attention_dropout": 0,
          "attention_layers": ["global", "local"], "attention_types": [[["global", "local"], 1]], "bos_token_id": 28,
          "classifier_dropout": 0.1, "embed_dropout": 0, "eos_token_id": 28, "gradient_checkpointing": False,
          "hidden_size": D, "initializer_range": 0.02, "intermediate_size": None, "layer_norm_epsilon": 1e-05,
          "max_position_embeddings": POSITIONS, "model_type": "gpt_neo", "num_heads": HEADS, "num_layers": LAYERS,
          "resid_dropout": 0, "summary_activation": None, "summary_first_dropout": 0.1, "summary_proj_to_labels": True,
          "summary_type": "cls_index", "summary_use_proj": True, "torch_dtype": "float32",
          "transformers_version": "4.28.1", "use_cache": True, "vocab_size": VOCABULARY, "window_size": WINDOW}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "norm_first": True,
            "final_norm": True, "activation": "gelu_tanh", "vocab_size": VOCABULARY, "positional_encoding": "learned",
            "max_positions": POSITIONS, "attention_scale": 1.0, "sliding_window": WINDOW, "sliding_window_layers": [1],
            "lm_head": True, "tie_word_embeddings": True}
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2305.07759"}
    return [Case("gpt-neo", "GPT-Neo (TinyStories)", source, GPTNeo(), some_inputs("gpt-neo", VOCABULARY), ours, found,
                 skipped=skipped, config_json=hf, unsaved=("lm_head.weight",),
                 needs=["a window on every other block: sliding_window_layers, the blocks that have it"])]
