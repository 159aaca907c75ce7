"""GPT-J, GPT-NeoX (Pythia) and Phi: attention and MLP read the same stream. StableLM: a part of each head is turned."""

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from parts import Stack, attend, frequencies, gelu_tanh, logits_of, mlp, module, record, rotary, split, sums

VOCABULARY, D, HEADS, LAYERS, FF, POSITIONS = 29, 16, 2, 2, 24, 24
D_HEAD = D // HEADS


def together(at, x, attention, feed_forward, *norms):
    """One sum of the stream and both sublayers, which read it through one norm or a norm each."""
    x = record(f"{at}.resid_pre", x)
    h = norms[0](f"{at}.ln1", x)
    attended = attention(h)
    if len(norms) == 2:
        h = norms[1](f"{at}.ln2", x)
    return record(f"{at}.resid_post", x + attended + feed_forward(h))


def attention_of(at, h, keep, q, k, v, out, turn, kv_heads=HEADS):
    z = attend(at, turn(split(q(h), HEADS)), turn(split(k(h), kv_heads)), split(v(h), kv_heads), keep)
    return record(f"{at}_out", out(z))


class Whole(nn.Module):
    """Embedding, blocks, final norm and head, wherever the module keeps them."""

    def run(self, inputs, embedding, blocks, norm, head):
        return logits_of(inputs, head, Stack(lambda prefix, tokens: record("embed", embedding(tokens)), list(blocks),
                                             normed(norm)))


def base_config(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "norm_first": True, "final_norm": True, "vocab_size": VOCABULARY, "positional_encoding": "rope",
            "max_positions": POSITIONS, "lm_head": True, **more}


def both(found, theirs, ours, how=""):
    for ending in ("weight", "bias"):
        found[f"{theirs}.{ending}"] = f"{ours}.{ending}{how}"


# --- GPT-J ------------------------------------------------------------------------------------------------------------


class GPTJBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(D)
        self.attn = module(**{name: nn.Linear(D, D, bias=False) for name in ("k_proj", "v_proj", "q_proj", "out_proj")})
        self.attn.register_buffer("bias", torch.ones(1, 1, POSITIONS, POSITIONS, dtype=torch.bool).tril())
        self.attn.register_buffer("masked_bias", torch.tensor(-1e9))
        self.mlp = module(fc_in=nn.Linear(D, FF), fc_out=nn.Linear(FF, D))

    def forward(self, at, x, keep, memory, memory_keep):
        a, turn = self.attn, rotary(frequencies(4, 10000.0), interleaved=True)
        return together(at, x, lambda h: attention_of(f"{at}.attn", h, keep, a.q_proj, a.k_proj, a.v_proj, a.out_proj,
                                                      turn),
                        lambda h: mlp(at, h, self.mlp.fc_in, self.mlp.fc_out, gelu_tanh), normed(self.ln_1))


class GPTJ(Whole):
    def __init__(self):
        super().__init__()
        self.transformer = module(wte=nn.Embedding(VOCABULARY, D),
                                  h=nn.ModuleList([GPTJBlock() for _ in range(LAYERS)]),
                                  ln_f=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY)

    def forward(self, inputs):
        t = self.transformer
        return self.run(inputs, t.wte, t.h, t.ln_f, self.lm_head)


def gptj():
    found, skipped = {"transformer.wte.weight": "embed.weight"}, {}
    for layer in range(LAYERS):
        theirs, ours = f"transformer.h.{layer}.", f"layers.{layer}."
        both(found, theirs + "ln_1", ours + "norm1")
        for letter, name in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
            found[f"{theirs}attn.{name}.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        both(found, theirs + "mlp.fc_in", ours + "up_proj")
        both(found, theirs + "mlp.fc_out", ours + "down_proj")
        skipped[f"{theirs}attn.bias"] = "the causal mask"
        skipped[f"{theirs}attn.masked_bias"] = "what masked scores are set to"
    both(found, "transformer.ln_f", "norm")
    both(found, "lm_head", "lm_head")
    hf = {"activation_function": "gelu_new", "architectures": ["GPTJForCausalLM"], "attn_pdrop": 0.0,
          "bos_token_id": 28,
          "embd_pdrop": 0.0, "eos_token_id": 28, "gradient_checkpointing": False, "initializer_range": 0.02,
          "layer_norm_epsilon": 1e-05, "model_type": "gptj", "n_embd": D, "n_head": HEADS, "n_inner": FF,
          "n_layer": LAYERS,
          "n_positions": POSITIONS, "resid_pdrop": 0.0, "rotary": True, "rotary_dim": 4, "scale_attn_weights": True,
          "summary_activation": None, "summary_first_dropout": 0.1, "summary_proj_to_labels": True,
          "summary_type": "cls_index", "summary_use_proj": True, "tie_word_embeddings": False,
          "tokenizer_class": "GPT2Tokenizer",
          "transformers_version": "4.18.0", "use_cache": True, "vocab_size": VOCABULARY}
    ours = base_config(activation="gelu_tanh", parallel_residual="one_norm", rope_interleaved=True, rotary_dim=4)
    source = {"repository": "huggingface/transformers", "paper": "Wang and Komatsuzaki 2021, GPT-J-6B"}
    return Case("gptj", "GPT-J", source, GPTJ(), some_inputs("gptj", VOCABULARY), ours, found, skipped=skipped,
                config_json=hf)


# --- GPT-NeoX ---------------------------------------------------------------------------------------------------------


class NeoXBlock(nn.Module):
    def __init__(self, parallel, buffers):
        super().__init__()
        self.parallel = parallel
        self.input_layernorm, self.post_attention_layernorm = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attention = module(query_key_value=nn.Linear(D, 3 * D), dense=nn.Linear(D, D))
        if buffers:
            self.attention.register_buffer("bias", torch.ones(1, 1, POSITIONS, POSITIONS, dtype=torch.bool).tril())
            self.attention.register_buffer("masked_bias", torch.tensor(-1e9))
            self.attention.rotary_emb = nn.Module()
            self.attention.rotary_emb.register_buffer("inv_freq", frequencies(2, 10000.0))
        self.mlp = module(dense_h_to_4h=nn.Linear(D, FF), dense_4h_to_h=nn.Linear(FF, D))

    def attend(self, at, h, keep):
        """The fused matrix has head 0's q, k and v, then head 1's."""
        fused = self.attention.query_key_value(h).unflatten(-1, (HEADS, 3, D_HEAD))
        q, k, v = (part.transpose(1, 2) for part in fused.unbind(-2))
        turn = rotary(frequencies(2, 10000.0))
        return record(f"{at}_out", self.attention.dense(attend(at, turn(q), turn(k), v, keep)))

    def forward(self, at, x, keep, memory, memory_keep):
        attention = lambda h: self.attend(f"{at}.attn", h, keep)  # noqa: E731
        feed_forward = lambda h: mlp(at, h, self.mlp.dense_h_to_4h, self.mlp.dense_4h_to_h, F.gelu)  # noqa: E731
        norms = normed(self.input_layernorm), normed(self.post_attention_layernorm)
        if self.parallel:
            return together(at, x, attention, feed_forward, *norms)
        return sums(at, x, [("resid_mid", attention, norms[0]), ("resid_post", feed_forward, norms[1])], "pre")


class NeoX(Whole):
    def __init__(self, parallel, buffers):
        super().__init__()
        blocks = nn.ModuleList([NeoXBlock(parallel, buffers) for _ in range(LAYERS)])
        self.gpt_neox = module(embed_in=nn.Embedding(VOCABULARY, D), layers=blocks, final_layer_norm=nn.LayerNorm(D))
        self.embed_out = nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        g = self.gpt_neox
        return self.run(inputs, g.embed_in, g.layers, g.final_layer_norm, self.embed_out)


def gpt_neox(name, title, parallel, buffers):
    found, skipped = {"gpt_neox.embed_in.weight": "embed.weight", "embed_out.weight": "lm_head.weight"}, {}
    for layer in range(LAYERS):
        theirs, ours = f"gpt_neox.layers.{layer}.", f"layers.{layer}."
        both(found, theirs + "input_layernorm", ours + "norm1")
        both(found, theirs + "post_attention_layernorm", ours + "norm2")
        both(found, theirs + "attention.query_key_value", ours + "self_attn.{q,k,v}_proj", ", by head")
        both(found, theirs + "attention.dense", ours + "self_attn.o_proj")
        both(found, theirs + "mlp.dense_h_to_4h", ours + "up_proj")
        both(found, theirs + "mlp.dense_4h_to_h", ours + "down_proj")
        if buffers:
            skipped[f"{theirs}attention.bias"] = "the causal mask"
            skipped[f"{theirs}attention.masked_bias"] = "what masked scores are set to"
            skipped[f"{theirs}attention.rotary_emb.inv_freq"] = "RoPE's frequencies"
    both(found, "gpt_neox.final_layer_norm", "norm")
    hf = {"architectures": ["GPTNeoXForCausalLM"], "attention_bias": True, "attention_dropout": 0.0, "bos_token_id": 0,
          "classifier_dropout": 0.1, "eos_token_id": 0, "hidden_act": "gelu", "hidden_dropout": 0.0, "hidden_size": D,
          "initializer_range": 0.02, "intermediate_size": FF, "layer_norm_eps": 1e-05,
          "max_position_embeddings": POSITIONS,
          "model_type": "gpt_neox", "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
          "partial_rotary_factor": 0.25,
          "rope_scaling": None, "rope_theta": 10000, "rotary_emb_base": 10000, "rotary_pct": 0.25,
          "tie_word_embeddings": False, "torch_dtype": "float32", "transformers_version": "4.46.0", "use_cache": True,
          "use_parallel_residual": parallel, "vocab_size": VOCABULARY}
    if buffers:  # as Pythia's own, older files have it
        for key in ("attention_bias", "attention_dropout", "hidden_dropout", "partial_rotary_factor", "rope_scaling",
                    "rope_theta"):
            del hf[key]
    ours = base_config(activation="gelu", rotary_dim=2, **({"parallel_residual": "two_norms"} if parallel else {}))
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2204.06745, arXiv:2304.01373"}
    return Case(name, title, source, NeoX(parallel, buffers), some_inputs(name, VOCABULARY), ours, found,
                skipped=skipped,
                config_json=hf)


# --- Phi --------------------------------------------------------------------------------------------------------------


class PhiBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = module(**{name: nn.Linear(D, D) for name in ("q_proj", "k_proj", "v_proj", "dense")})
        self.mlp = module(fc1=nn.Linear(D, FF), fc2=nn.Linear(FF, D))
        self.input_layernorm = nn.LayerNorm(D)

    def forward(self, at, x, keep, memory, memory_keep):
        a, turn = self.self_attn, rotary(frequencies(4, 10000.0))
        return together(at, x, lambda h: attention_of(f"{at}.attn", h, keep, a.q_proj, a.k_proj, a.v_proj, a.dense,
                                                      turn),
                        lambda h: mlp(at, h, self.mlp.fc1, self.mlp.fc2, gelu_tanh), normed(self.input_layernorm))


class Phi(Whole):
    def __init__(self):
        super().__init__()
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D),
                            layers=nn.ModuleList([PhiBlock() for _ in range(LAYERS)]),
                            final_layernorm=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY)

    def forward(self, inputs):
        m = self.model
        return self.run(inputs, m.embed_tokens, m.layers, m.final_layernorm, self.lm_head)


def phi():
    found = {"model.embed_tokens.weight": "embed.weight"}
    for layer in range(LAYERS):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        both(found, theirs + "input_layernorm", ours + "norm1")
        for letter, name in zip("qkvo", ("q_proj", "k_proj", "v_proj", "dense")):
            both(found, f"{theirs}self_attn.{name}", f"{ours}self_attn.{letter}_proj")
        both(found, theirs + "mlp.fc1", ours + "up_proj")
        both(found, theirs + "mlp.fc2", ours + "down_proj")
    both(found, "model.final_layernorm", "norm")
    both(found, "lm_head", "lm_head")
    hf = {"architectures": ["PhiForCausalLM"], "attention_dropout": 0.0, "bos_token_id": None, "embd_pdrop": 0.0,
          "eos_token_id": None, "hidden_act": "gelu_new", "hidden_size": D, "initializer_range": 0.02,
          "intermediate_size": FF,
          "layer_norm_eps": 1e-05, "max_position_embeddings": POSITIONS, "model_type": "phi",
          "num_attention_heads": HEADS,
          "num_hidden_layers": LAYERS, "num_key_value_heads": HEADS, "partial_rotary_factor": 0.5,
          "qk_layernorm": False,
          "resid_pdrop": 0.1, "rope_scaling": None, "rope_theta": 10000.0, "tie_word_embeddings": False,
          "torch_dtype": "float32", "transformers_version": "4.37.0", "use_cache": True, "vocab_size": VOCABULARY}
    ours = base_config(activation="gelu_tanh", parallel_residual="one_norm", rotary_dim=4)
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2309.05463"}
    return Case("phi", "Phi", source, Phi(), some_inputs("phi", VOCABULARY), ours, found, config_json=hf)


# --- StableLM ---------------------------------------------------------------------------------------------------------


class StableLMBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = module(**{name: nn.Linear(D, D,
                                                   bias=False) for name in ("q_proj", "k_proj", "v_proj", "o_proj")})
        self.mlp = module(gate_proj=nn.Linear(D, FF, bias=False), up_proj=nn.Linear(D, FF, bias=False),
                          down_proj=nn.Linear(FF, D, bias=False))
        self.input_layernorm, self.post_attention_layernorm = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, at, x, keep, memory, memory_keep):
        a, m, turn = self.self_attn, self.mlp, rotary(frequencies(2, 10000.0))
        return sums(at, x, [("resid_mid", lambda h: attention_of(f"{at}.attn", h, keep, a.q_proj, a.k_proj, a.v_proj,
                                                                 a.o_proj,
                                                                 turn), normed(self.input_layernorm)),
                            ("resid_post", lambda h: mlp(at, h, m.up_proj, m.down_proj, F.silu, m.gate_proj),
                             normed(self.post_attention_layernorm))], "pre")


class StableLM(Whole):
    def __init__(self):
        super().__init__()
        blocks = nn.ModuleList([StableLMBlock() for _ in range(LAYERS)])
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D), layers=blocks, norm=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)

    def forward(self, inputs):
        m = self.model
        return self.run(inputs, m.embed_tokens, m.layers, m.norm, self.lm_head)


def stablelm():
    found = {"model.embed_tokens.weight": "embed.weight", "lm_head.weight": "lm_head.weight"}
    for layer in range(LAYERS):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        both(found, theirs + "input_layernorm", ours + "norm1")
        both(found, theirs + "post_attention_layernorm", ours + "norm2")
        for letter in "qkvo":
            found[f"{theirs}self_attn.{letter}_proj.weight"] = f"{ours}self_attn.{letter}_proj.weight"
        for part in ("gate", "up", "down"):
            found[f"{theirs}mlp.{part}_proj.weight"] = f"{ours}{part}_proj.weight"
    both(found, "model.norm", "norm")
    ours = base_config(activation="silu", gated_mlp=True, rotary_dim=2)
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2402.17834"}
    asks = {"nhead": {"answer": HEADS, "because": "no shape depends on it"}}
    assumes = {"rotary_dim": {"answer": 2,
                              "because": "the names are Llama's, which turns whole heads; the tensors are the same"},
               "rope_theta": {"answer": 10000.0, "because": "it isn't in the tensors"}}
    return Case("stablelm", "StableLM, without its config.json", source, StableLM(),
                some_inputs("stablelm", VOCABULARY), ours,
                found, asks=asks, assumes=assumes)


def cases():
    return [gptj(), gpt_neox("pythia", "Pythia (GPT-NeoX), with the buffers of its own files", True, True),
            gpt_neox("gpt-neox-sequential", "GPT-NeoX with use_parallel_residual off", False, False), phi(), stablelm()]
