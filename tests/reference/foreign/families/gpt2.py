"""GPT-2 as Hugging Face saves it: weights are [in, out], q, k and v are one matrix, the head is the embedding."""

import torch
from torch import nn

from case import Case, some_inputs
from parts import Stack, attend, gelu_tanh, layer_norm, logits_of, mlp, module, record, split, sums


class Conv1D(nn.Module):
    def __init__(self, out, given):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(given, out)), nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return x @ self.weight + self.bias


def normed(norm):
    return lambda at, x: layer_norm(at, x, norm.weight, norm.bias, norm.eps)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = module(c_attn=Conv1D(3 * d, d), c_proj=Conv1D(d, d))
        self.mlp = module(c_fc=Conv1D(4 * d, d), c_proj=Conv1D(d, 4 * d))

    def attention(self, at, x, keep):
        q, k, v = (split(part, self.heads) for part in self.attn.c_attn(x).chunk(3, -1))
        return record(f"{at}_out", self.attn.c_proj(attend(at, q, k, v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), normed(self.ln_1)),
                            ("resid_post", lambda h: mlp(at, h, self.mlp.c_fc, self.mlp.c_proj, gelu_tanh),
                             normed(self.ln_2))], "pre")


class GPT2(nn.Module):
    def __init__(self, vocabulary, positions, d, heads, layers):
        super().__init__()
        self.transformer = module(wte=nn.Embedding(vocabulary, d), wpe=nn.Embedding(positions, d),
                                  h=nn.ModuleList([Block(d, heads) for _ in range(layers)]), ln_f=nn.LayerNorm(d))
        self.lm_head = nn.Linear(d, vocabulary, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def embed(self, prefix, tokens):
        t = self.transformer
        return record("embed", t.wte(tokens)) + record("pos_embed", t.wpe.weight[:tokens.size(1)])

    def forward(self, inputs):
        return logits_of(inputs, self.lm_head, Stack(self.embed, list(self.transformer.h),
                                                     normed(self.transformer.ln_f)))


def names(layers):
    found = {"transformer.wte.weight": "embed.weight", "transformer.wpe.weight": "pos_embed.weight"}
    for layer in range(layers):
        for ending in ("weight", "bias"):
            theirs, ours = f"transformer.h.{layer}.", f"layers.{layer}."
            how = ", transposed" if ending == "weight" else ""
            found[f"{theirs}ln_1.{ending}"] = f"{ours}norm1.{ending}"
            found[f"{theirs}attn.c_attn.{ending}"] = f"{ours}self_attn.{{q,k,v}}_proj.{ending}{how}"
            found[f"{theirs}attn.c_proj.{ending}"] = f"{ours}self_attn.o_proj.{ending}{how}"
            found[f"{theirs}ln_2.{ending}"] = f"{ours}norm2.{ending}"
            found[f"{theirs}mlp.c_fc.{ending}"] = f"{ours}up_proj.{ending}{how}"
            found[f"{theirs}mlp.c_proj.{ending}"] = f"{ours}down_proj.{ending}{how}"
    return {**found, "transformer.ln_f.weight": "norm.weight", "transformer.ln_f.bias": "norm.bias"}


def cases():
    vocabulary, positions, d, heads, layers = 31, 20, 16, 2, 2
    hf = {"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
          "bos_token_id": 30,
          "embd_pdrop": 0.1, "eos_token_id": 30, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
          "model_type": "gpt2", "n_ctx": positions, "n_embd": d, "n_head": heads, "n_inner": None, "n_layer": layers,
          "n_positions": positions, "reorder_and_upcast_attn": False, "resid_pdrop": 0.1,
          "scale_attn_by_inverse_layer_idx": False,
          "scale_attn_weights": True, "summary_activation": None, "summary_first_dropout": 0.1,
          "summary_proj_to_labels": True,
          "summary_type": "cls_index", "summary_use_proj": True, "torch_dtype": "float32",
          "transformers_version": "4.46.0",
          "use_cache": True, "vocab_size": vocabulary}
    ours = {"model_type": "decoderscope", "d_model": d, "nhead": heads, "num_layers": layers, "norm_first": True,
            "final_norm": True, "activation": "gelu_tanh", "vocab_size": vocabulary, "positional_encoding": "learned",
            "max_positions": positions, "lm_head": True, "tie_word_embeddings": True}
    source = {"repository": "huggingface/transformers",
              "paper": "Radford et al. 2019, Language Models are Unsupervised Multitask Learners"}
    return [Case("gpt2", "GPT-2", source, GPT2(vocabulary, positions, d, heads, layers),
                 some_inputs("gpt2", vocabulary), ours,
                 names(layers), config_json=hf, unsaved=("lm_head.weight",))]
