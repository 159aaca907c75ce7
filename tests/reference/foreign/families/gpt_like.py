"""StarCoder 2, Falcon and MPT: LayerNorm and an MLP without a gate, each with its own attention."""

import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from families.parallel import both, together
from parts import Stack, alibi, attend, frequencies, gelu_tanh, logits_of, mlp, module, record, rotary, split, sums, window

VOCABULARY, D, HEADS, LAYERS, POSITIONS = 29, 16, 4, 2, 64
D_HEAD = D // HEADS


def ours(**more):
    return {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "norm_first": True,
            "final_norm": True, "vocab_size": VOCABULARY, "lm_head": True, "tie_word_embeddings": True, **more}


def case(name, title, paper, module, config, found, hf, unsaved=("lm_head.weight",), **more):
    return Case(name, title, {"repository": "huggingface/transformers", "paper": paper}, module,
                some_inputs(name, VOCABULARY), config, found, config_json=hf, unsaved=unsaved, **more)


# --- StarCoder 2 ------------------------------------------------------------------------------------------------------


class StarCoderBlock(nn.Module):
    def __init__(self, bias):
        super().__init__()
        narrow = 2 * D_HEAD
        widths = {"q_proj": D, "k_proj": narrow, "v_proj": narrow, "o_proj": D}
        self.self_attn = module(**{name: nn.Linear(D, width, bias=bias) for name, width in widths.items()})
        self.mlp = module(c_fc=nn.Linear(D, 24, bias=bias), c_proj=nn.Linear(24, D, bias=bias))
        self.input_layernorm, self.post_attention_layernorm = nn.LayerNorm(D), nn.LayerNorm(D)

    def attention(self, at, h, keep):
        a, turn = self.self_attn, rotary(frequencies(D_HEAD, 100000.0))
        z = attend(at, turn(split(a.q_proj(h), HEADS)), turn(split(a.k_proj(h), 2)), split(a.v_proj(h), 2), keep)
        return record(f"{at}_out", a.o_proj(z))

    def forward(self, at, x, keep, memory, memory_keep):
        keep = keep & window(x.size(1), 3)
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), normed(self.input_layernorm)),
                            ("resid_post", lambda h: mlp(at, h, self.mlp.c_fc, self.mlp.c_proj, gelu_tanh),
                             normed(self.post_attention_layernorm))], "pre")


class StarCoder(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.model = module(embed_tokens=nn.Embedding(VOCABULARY, D),
                            layers=nn.ModuleList([StarCoderBlock(bias) for _ in range(LAYERS)]), norm=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, inputs):
        m = self.model
        return logits_of(inputs, self.lm_head, Stack(lambda prefix, tokens: record("embed", m.embed_tokens(tokens)),
                                                     list(m.layers), normed(m.norm)))


def starcoder2():
    found = {"model.embed_tokens.weight": "embed.weight"}
    for layer in range(LAYERS):
        theirs, here = f"model.layers.{layer}.", f"layers.{layer}."
        for letter in "qkvo":
            both(found, f"{theirs}self_attn.{letter}_proj", f"{here}self_attn.{letter}_proj")
        both(found, theirs + "mlp.c_fc", here + "up_proj")
        both(found, theirs + "mlp.c_proj", here + "down_proj")
        both(found, theirs + "input_layernorm", here + "norm1")
        both(found, theirs + "post_attention_layernorm", here + "norm2")
    both(found, "model.norm", "norm")
    hf = {"architectures": ["Starcoder2ForCausalLM"], "attention_dropout": 0.1, "bos_token_id": 0, "embedding_dropout": 0.1,
          "eos_token_id": 0, "hidden_act": "gelu_pytorch_tanh", "hidden_size": D, "initializer_range": 0.02,
          "intermediate_size": 24, "layer_norm_epsilon": 1e-05, "max_position_embeddings": POSITIONS, "mlp_type": "default",
          "model_type": "starcoder2", "norm_epsilon": 1e-05, "norm_type": "layer_norm", "num_attention_heads": HEADS,
          "num_hidden_layers": LAYERS, "num_key_value_heads": 2, "residual_dropout": 0.1, "rope_theta": 100000,
          "sliding_window": 3, "torch_dtype": "float32", "transformers_version": "4.39.0", "use_bias": True,
          "use_cache": True, "vocab_size": VOCABULARY}
    return case("starcoder2", "StarCoder 2", "arXiv:2402.19173", StarCoder(True),
                ours(num_key_value_heads=2, dim_feedforward=24, activation="gelu_tanh", positional_encoding="rope",
                     rope_theta=100000.0, max_positions=POSITIONS, sliding_window=3), found, hf,
                refuses={"mlp_type": {"value": "gated", "because": "the MLP has no gate"},
                         "norm_type": {"value": "rms_norm", "because": "the norms are LayerNorms"}})


# --- Falcon -----------------------------------------------------------------------------------------------------------


class FalconBlock(nn.Module):
    def __init__(self, kv_heads, new):
        super().__init__()
        self.kv_heads, self.new = kv_heads, new
        self.self_attention = module(query_key_value=nn.Linear(D, (HEADS + 2 * kv_heads) * D_HEAD, bias=False),
                                     dense=nn.Linear(D, D, bias=False))
        self.mlp = module(dense_h_to_4h=nn.Linear(D, 4 * D, bias=False), dense_4h_to_h=nn.Linear(4 * D, D, bias=False))
        for name in ("ln_attn", "ln_mlp") if new else ("input_layernorm",):
            setattr(self, name, nn.LayerNorm(D))

    def attention(self, at, h, keep):
        """The fused matrix has a group's queries, its key and its value, then the next group's."""
        fused = self.self_attention.query_key_value(h).unflatten(-1, (self.kv_heads, -1, D_HEAD))
        q, k, v = fused[..., :-2, :].flatten(-3), fused[..., -2, :].flatten(-2), fused[..., -1, :].flatten(-2)
        turn = rotary(frequencies(D_HEAD, 10000.0))
        z = attend(at, turn(split(q, HEADS)), turn(split(k, self.kv_heads)), split(v, self.kv_heads), keep)
        return record(f"{at}_out", self.self_attention.dense(z))

    def forward(self, at, x, keep, memory, memory_keep):
        norms = [normed(self.ln_attn), normed(self.ln_mlp)] if self.new else [normed(self.input_layernorm)]
        return together(at, x, lambda h: self.attention(f"{at}.attn", h, keep),
                        lambda h: mlp(at, h, self.mlp.dense_h_to_4h, self.mlp.dense_4h_to_h, F.gelu), *norms)


class Falcon(nn.Module):
    def __init__(self, kv_heads, new):
        super().__init__()
        self.transformer = module(word_embeddings=nn.Embedding(VOCABULARY, D), ln_f=nn.LayerNorm(D),
                                  h=nn.ModuleList([FalconBlock(kv_heads, new) for _ in range(LAYERS)]))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.word_embeddings.weight

    def forward(self, inputs):
        t = self.transformer
        return logits_of(inputs, self.lm_head, Stack(lambda prefix, tokens: record("embed", t.word_embeddings(tokens)),
                                                     list(t.h), normed(t.ln_f)))


def falcon(name, title, kv_heads, new):
    found = {"transformer.word_embeddings.weight": "embed.weight"}
    for layer in range(LAYERS):
        theirs, here = f"transformer.h.{layer}.", f"layers.{layer}."
        found[theirs + "self_attention.query_key_value.weight"] = here + "self_attn.{q,k,v}_proj.weight, by group"
        found[theirs + "self_attention.dense.weight"] = here + "self_attn.o_proj.weight"
        found[theirs + "mlp.dense_h_to_4h.weight"] = here + "up_proj.weight"
        found[theirs + "mlp.dense_4h_to_h.weight"] = here + "down_proj.weight"
        for number, norm in enumerate(("ln_attn", "ln_mlp") if new else ("input_layernorm",), start=1):
            both(found, theirs + norm, f"{here}norm{number}")
    both(found, "transformer.ln_f", "norm")
    hf = {"alibi": False, "apply_residual_connection_post_layernorm": False, "architectures": ["FalconForCausalLM"],
          "attention_dropout": 0.0, "bias": False, "bos_token_id": 11, "eos_token_id": 11, "hidden_dropout": 0.0,
          "hidden_size": D, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "falcon",
          "multi_query": True, "new_decoder_architecture": new, "num_attention_heads": HEADS,
          "num_hidden_layers": LAYERS, "num_kv_heads": kv_heads if new else HEADS, "parallel_attn": True,
          "torch_dtype": "float32",
          "transformers_version": "4.27.4", "use_cache": True, "vocab_size": VOCABULARY}
    if new:
        hf.update(activation="gelu", ffn_hidden_size=4 * D, max_position_embeddings=POSITIONS, num_ln_in_parallel_attn=2,
                  rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=True)
    return case(name, title, "arXiv:2311.16867", Falcon(kv_heads, new),
                ours(num_key_value_heads=kv_heads, dim_feedforward=4 * D, activation="gelu", positional_encoding="rope",
                     parallel_residual="two_norms" if new else "one_norm",
                     **({"max_positions": POSITIONS} if new else {})), found, hf,
                refuses={"alibi": {"value": True, "because": "Falcon adds ALiBi's bias as bfloat16 rounds it"},
                         "apply_residual_connection_post_layernorm": {"value": True, "because": "another residual"}})


# --- MPT --------------------------------------------------------------------------------------------------------------


MPT_CLIP = 0.75


class MPTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.norm_1.bias = self.norm_2.bias = None
        self.attn = module(Wqkv=nn.Linear(D, 3 * D, bias=False), out_proj=nn.Linear(D, D, bias=False))
        self.ffn = module(up_proj=nn.Linear(D, 2 * D, bias=False), down_proj=nn.Linear(2 * D, D, bias=False))

    def attention(self, at, h, keep):
        q, k, v = (split(part, HEADS) for part in self.attn.Wqkv(h).clamp(-MPT_CLIP, MPT_CLIP).chunk(3, -1))
        z = attend(at, q, k, v, keep, scale=0.4, bias=alibi(HEADS, h.size(1)))
        return record(f"{at}_out", self.attn.out_proj(z))

    def forward(self, at, x, keep, memory, memory_keep):
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), normed(self.norm_1)),
                            ("resid_post", lambda h: mlp(at, h, self.ffn.up_proj, self.ffn.down_proj, F.gelu),
                             normed(self.norm_2))], "pre")


class MPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = module(wte=nn.Embedding(VOCABULARY, D), norm_f=nn.LayerNorm(D),
                                  blocks=nn.ModuleList([MPTBlock() for _ in range(LAYERS)]))
        self.transformer.norm_f.bias = None
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, inputs):
        t = self.transformer
        return logits_of(inputs, self.lm_head, Stack(lambda prefix, tokens: record("embed", t.wte(tokens)), list(t.blocks),
                                                     normed(t.norm_f)))


def mpt():
    found = {"transformer.wte.weight": "embed.weight", "transformer.norm_f.weight": "norm.weight"}
    for layer in range(LAYERS):
        theirs, here = f"transformer.blocks.{layer}.", f"layers.{layer}."
        found[theirs + "norm_1.weight"] = here + "norm1.weight"
        found[theirs + "attn.Wqkv.weight"] = here + "self_attn.{q,k,v}_proj.weight"
        found[theirs + "attn.out_proj.weight"] = here + "self_attn.o_proj.weight"
        found[theirs + "norm_2.weight"] = here + "norm2.weight"
        found[theirs + "ffn.up_proj.weight"] = here + "up_proj.weight"
        found[theirs + "ffn.down_proj.weight"] = here + "down_proj.weight"
    attention = {"alibi": True, "alibi_bias_max": 8, "attn_impl": "torch", "attn_pdrop": 0, "attn_type":
                 "multihead_attention", "attn_uses_sequence_id": False, "clip_qkv": MPT_CLIP, "model_type": "", "prefix_lm":
                 False, "qk_ln": False, "softmax_scale": 0.4}
    hf = {"architectures": ["MptForCausalLM"], "attn_config": attention, "d_model": D, "emb_pdrop": 0,
          "embedding_fraction": 1.0, "expansion_ratio": 2, "init_device": "cpu", "initializer_range": 0.02,
          "layer_norm_epsilon": 1e-05, "learned_pos_emb": True, "logit_scale": None, "max_seq_len": POSITIONS,
          "model_type": "mpt", "n_heads": HEADS, "n_layers": LAYERS, "no_bias": True, "norm_type":
          "low_precision_layernorm", "resid_pdrop": 0, "torch_dtype": "float32", "transformers_version": "4.32.0",
          "use_cache": False, "verbose": 0, "vocab_size": VOCABULARY}

    def with_attention(**changed):
        return {"value": {**attention, **changed}, "because": "changes the scores"}

    return case("mpt", "MPT", "MosaicML 2023, MPT-7B", MPT(),
                ours(bias=False, dim_feedforward=2 * D, activation="gelu", alibi=True, attention_scale=0.4, clip_qkv=MPT_CLIP,
                     max_positions=POSITIONS), found, hf,
                refuses={"attn_config": with_attention(qk_ln=True), "logit_scale": {
                    "value": "inv_sqrt_d_model", "because": "scales the logits"}})


def cases():
    return [starcoder2(), falcon("falcon", "Falcon 7B: one key and value for all heads", 1, False),
            falcon("falcon-new", "Falcon 40B: groups, a norm for each sublayer", 2, True), mpt()]
