"""BLOOM: ALiBi, a norm behind the embedding, q, k and v in one matrix head by head, the head tied."""

from torch import nn

from case import Case, some_inputs
from families.gpt2 import normed
from families.parallel import both
from parts import Stack, alibi, attend, gelu_tanh, logits_of, mlp, module, record, sums

VOCABULARY, D, HEADS, LAYERS = 29, 16, 4, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = nn.LayerNorm(D), nn.LayerNorm(D)
        self.self_attention = module(query_key_value=nn.Linear(D, 3 * D), dense=nn.Linear(D, D))
        self.mlp = module(dense_h_to_4h=nn.Linear(D, 4 * D), dense_4h_to_h=nn.Linear(4 * D, D))

    def attend(self, at, h, keep):
        fused = self.self_attention.query_key_value(h).unflatten(-1, (HEADS, 3, D // HEADS))
        q, k, v = (part.transpose(1, 2) for part in fused.unbind(-2))
        return record(f"{at}_out", self.self_attention.dense(attend(at, q, k, v, keep, bias=alibi(HEADS, h.size(1)))))

    def forward(self, at, x, keep, memory, memory_keep):
        m = self.mlp
        return sums(at, x, [("resid_mid", lambda h: self.attend(f"{at}.attn", h, keep), normed(self.input_layernorm)),
                            ("resid_post", lambda h: mlp(at, h, m.dense_h_to_4h, m.dense_4h_to_h, gelu_tanh),
                             normed(self.post_attention_layernorm))], "pre")


class Bloom(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = module(word_embeddings=nn.Embedding(VOCABULARY, D),
                                  word_embeddings_layernorm=nn.LayerNorm(D),
                                  h=nn.ModuleList([Block() for _ in range(LAYERS)]), ln_f=nn.LayerNorm(D))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.word_embeddings.weight

    def embed(self, prefix, tokens):
        t = self.transformer
        return normed(t.word_embeddings_layernorm)("embed_norm", record("embed", t.word_embeddings(tokens)))

    def forward(self, inputs):
        t = self.transformer
        return logits_of(inputs, self.lm_head, Stack(self.embed, list(t.h), normed(t.ln_f)))


def cases():
    found = {"transformer.word_embeddings.weight": "embed.weight"}
    both(found, "transformer.word_embeddings_layernorm", "embed_norm")
    for layer in range(LAYERS):
        theirs, ours = f"transformer.h.{layer}.", f"layers.{layer}."
        both(found, theirs + "input_layernorm", ours + "norm1")
        both(found, theirs + "self_attention.query_key_value", ours + "self_attn.{q,k,v}_proj", ", by head")
        both(found, theirs + "self_attention.dense", ours + "self_attn.o_proj")
        both(found, theirs + "post_attention_layernorm", ours + "norm2")
        both(found, theirs + "mlp.dense_h_to_4h", ours + "up_proj")
        both(found, theirs + "mlp.dense_4h_to_h", ours + "down_proj")
    both(found, "transformer.ln_f", "norm")
    hf = {"apply_residual_connection_post_layernorm": False, "architectures": ["BloomForCausalLM"],
          "attention_dropout": 0.0,
          "bos_token_id": 1, "eos_token_id": 2, "hidden_dropout": 0.0, "hidden_size": D, "initializer_range": 0.02,
          "layer_norm_epsilon": 1e-05, "model_type": "bloom", "n_head": HEADS, "n_layer": LAYERS, "pad_token_id": 3,
          "pretraining_tp": 1, "slow_but_exact": False, "torch_dtype": "float32", "transformers_version": "4.46.0",
          "use_cache": True, "vocab_size": VOCABULARY}
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "norm_first": True,
            "final_norm": True, "activation": "gelu_tanh", "vocab_size": VOCABULARY, "embedding_norm": True,
            "alibi": True,
            "lm_head": True, "tie_word_embeddings": True}
    source = {"repository": "huggingface/transformers", "paper": "arXiv:2211.05100, arXiv:2108.12409"}
    return [Case("bloom", "BLOOM", source, Bloom(), some_inputs("bloom", VOCABULARY), ours, found, config_json=hf,
                 unsaved=("lm_head.weight",))]
