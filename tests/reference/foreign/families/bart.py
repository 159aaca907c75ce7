"""BART and Marian: encoder-decoders with one embedding for both sides and the head, and a bias on the logits."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from families.parallel import both
from parts import Stack, attend, logits_of, mlp, module, record, sinusoidal_halves, split, sums

VOCABULARY, D, HEADS, LAYERS, FF, POSITIONS = 23, 12, 3, 2, 16, 18


def attention():
    return module(**{name: nn.Linear(D, D) for name in ("k_proj", "v_proj", "q_proj", "out_proj")})


def run(a, at, h, source, keep):
    q, k, v = a.q_proj(h), a.k_proj(source), a.v_proj(source)
    return record(f"{at}_out", a.out_proj(attend(at, split(q, HEADS), split(k, HEADS), split(v, HEADS), keep)))


class Block(nn.Module):
    def __init__(self, crossed, act):
        super().__init__()
        self.crossed, self.act = crossed, act
        self.self_attn, self.self_attn_layer_norm = attention(), nn.LayerNorm(D)
        if crossed:
            self.encoder_attn, self.encoder_attn_layer_norm = attention(), nn.LayerNorm(D)
        self.fc1, self.fc2, self.final_layer_norm = nn.Linear(D, FF), nn.Linear(FF, D), nn.LayerNorm(D)

    def forward(self, at, x, keep, memory, memory_keep):
        steps = [("resid_mid", lambda h: run(self.self_attn, f"{at}.attn", h, h, keep),
                  normed(self.self_attn_layer_norm))]
        if self.crossed:
            steps.append(("resid_mid_cross", lambda h: run(self.encoder_attn, f"{at}.cross_attn", h, memory,
                                                           memory_keep),
                          normed(self.encoder_attn_layer_norm)))
        steps.append(("resid_post", lambda h: mlp(at, h, self.fc1, self.fc2, self.act), normed(self.final_layer_norm)))
        return sums(at, x, steps, "post")


class Bart(nn.Module):
    """`marian`: scaled embeddings, positions made and not stored, no norm behind the embedding."""

    def __init__(self, marian):
        super().__init__()
        self.marian = marian
        act = F.silu if marian else F.gelu
        self.model = module(shared=nn.Embedding(VOCABULARY, D))
        for side, crossed in (("encoder", False), ("decoder", True)):
            stack = module(embed_tokens=self.model.shared,
                           layers=nn.ModuleList([Block(crossed, act) for _ in range(LAYERS)]))
            if not marian:
                stack.embed_positions = nn.Embedding(POSITIONS + 2, D)
                stack.layernorm_embedding = nn.LayerNorm(D)
            setattr(self.model, side, stack)
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.model.shared.weight
        self.register_buffer("final_logits_bias", 0.3 * torch.randn(1, VOCABULARY,
                                                                    generator=torch.Generator().manual_seed(5)))

    def embed(self, prefix, tokens):
        stack = self.model.encoder if prefix else self.model.decoder
        length = tokens.size(1)
        x = record(prefix + "embed", self.model.shared(tokens) * (math.sqrt(D) if self.marian else 1))
        if self.marian:
            return x + record(prefix + "pos_embed", sinusoidal_halves(POSITIONS, D)[:length])
        x = x + record(prefix + "pos_embed", stack.embed_positions.weight[2:2 + length])
        return normed(stack.layernorm_embedding)(prefix + "embed_norm", x)

    def forward(self, inputs):
        stacks = (Stack(self.embed, list(stack.layers)) for stack in (self.model.decoder, self.model.encoder))
        return logits_of(inputs, lambda x: self.lm_head(x) + self.final_logits_bias, *stacks)


def names(marian):
    found = {"model.shared.weight": ["embed.weight", "encoder.embed.weight"], "final_logits_bias": "lm_head.bias"}
    for side, crossed in (("encoder", False), ("decoder", True)):
        theirs, ours = f"model.{side}.", "" if crossed else "encoder."
        if not marian:
            found[theirs + "embed_positions.weight"] = f"{ours}pos_embed.weight, rows from 2"
            both(found, theirs + "layernorm_embedding", ours + "embed_norm")
        for layer in range(LAYERS):
            t, o = f"{theirs}layers.{layer}.", f"{ours}layers.{layer}."
            for attention_, our in (("self_attn", "self_attn"), ("encoder_attn", "cross_attn"))[:1 + crossed]:
                for letter, name in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
                    both(found, f"{t}{attention_}.{name}", f"{o}{our}.{letter}_proj")
            both(found, t + "self_attn_layer_norm", o + "norm1")
            if crossed:
                both(found, t + "encoder_attn_layer_norm", o + "norm2")
            both(found, t + "fc1", o + "up_proj")
            both(found, t + "fc2", o + "down_proj")
            both(found, t + "final_layer_norm", o + ("norm3" if crossed else "norm2"))
    return found


def config_json(model_type, architecture, **more):
    return {"activation_dropout": 0.0, "architectures": [architecture], "attention_dropout": 0.0, "bos_token_id": 0,
            "classifier_dropout": 0.0, "d_model": D, "decoder_attention_heads": HEADS, "decoder_ffn_dim": FF,
            "decoder_layerdrop": 0.0, "decoder_layers": LAYERS, "decoder_start_token_id": 2, "dropout": 0.1,
            "encoder_attention_heads": HEADS, "encoder_ffn_dim": FF, "encoder_layerdrop": 0.0, "encoder_layers": LAYERS,
            "eos_token_id": 2, "forced_eos_token_id": 2, "init_std": 0.02, "is_encoder_decoder": True,
            "max_position_embeddings": POSITIONS, "model_type": model_type, "num_hidden_layers": LAYERS,
            "pad_token_id": 1,
            "torch_dtype": "float32", "transformers_version": "4.46.0", "use_cache": True, "vocab_size": VOCABULARY,
            **more}


def case(name, title, paper, marian, hf, made, **more):
    unsaved = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "norm_first": False, "cross_attention": True, "encoder_layers": LAYERS, "vocab_size": VOCABULARY,
            "encoder_vocab_size": VOCABULARY, "positional_encoding": "learned", "max_positions": POSITIONS,
            "lm_head": True,
            "tie_word_embeddings": True, **more}
    return Case(name, title, {"repository": "huggingface/transformers", "paper": paper}, Bart(marian),
                some_inputs(name, VOCABULARY, 6, (VOCABULARY, 5)), ours, names(marian), config_json=hf, made=made,
                unsaved=unsaved)


def cases():
    bart = config_json("bart", "BartForConditionalGeneration", activation_function="gelu", scale_embedding=False,
                       add_bias_logits=False, add_final_layer_norm=False, normalize_before=False,
                       normalize_embedding=True,
                       gradient_checkpointing=False, forced_bos_token_id=0)
    marian = config_json("marian", "MarianMTModel", activation_function="swish", scale_embedding=True,
                         add_bias_logits=False,
                         add_final_layer_norm=False, normalize_before=False, normalize_embedding=False,
                         decoder_vocab_size=VOCABULARY,
                         share_encoder_decoder_embeddings=True, static_position_embeddings=True,
                         bad_words_ids=[[VOCABULARY - 1]], num_beams=6)
    tables = {side + "pos_embed.weight": ["sinusoidal_halves", [POSITIONS, D]] for side in ("", "encoder.")}
    return [case("bart", "BART", "arXiv:1910.13461", False, bart, {}, activation="gelu", embedding_norm=True),
            case("marian", "Marian", "arXiv:1804.00344", True, marian, tables, activation="silu", scale_embedding=True)]
