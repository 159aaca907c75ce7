"""Phi-3: Llama's block with q, k and v in one matrix, and gate and up in one."""

import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from families.llama_family import config_json
from families.llama_like import LlamaLike, Norm, our_config
from parts import attend, mlp, module, record, rotary, split, sums, window


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        wide, narrow = c["heads"] * c["d_head"], c["kv_heads"] * c["d_head"]
        self.widths = wide, narrow, narrow
        self.self_attn = module(o_proj=nn.Linear(wide, c["d_model"], bias=False),
                                qkv_proj=nn.Linear(c["d_model"], wide + 2 * narrow, bias=False))
        self.mlp = module(gate_up_proj=nn.Linear(c["d_model"], 2 * c["d_ff"], bias=False),
                          down_proj=nn.Linear(c["d_ff"], c["d_model"], bias=False))
        self.input_layernorm, self.post_attention_layernorm = Norm(c["d_model"], c["eps"]), Norm(c["d_model"], c["eps"])

    def attention(self, at, h, keep):
        c, turn = self.c, rotary(self.c["frequencies"])
        q, k, v = self.self_attn.qkv_proj(h).split(self.widths, -1)
        z = attend(at, turn(split(q, c["heads"])), turn(split(k, c["kv_heads"])), split(v, c["kv_heads"]), keep)
        return record(f"{at}_out", self.self_attn.o_proj(z))

    def feed_forward(self, at, h):
        both = self.mlp.gate_up_proj(h)
        half = self.c["d_ff"]
        return mlp(at, h, lambda _: both[..., half:], self.mlp.down_proj, F.silu, lambda _: both[..., :half])

    def forward(self, at, x, keep, memory, memory_keep):
        keep = keep & window(x.size(1), 4)
        return sums(at, x, [("resid_mid", lambda h: self.attention(f"{at}.attn", h, keep), self.input_layernorm),
                            ("resid_post", lambda h: self.feed_forward(at, h), self.post_attention_layernorm)], "pre")


def cases():
    model = LlamaLike(kv_heads=2, eps=1e-5)
    model.model.layers = nn.ModuleList([Block(model.c) for _ in range(2)])
    found = {"model.embed_tokens.weight": "embed.weight", "model.norm.weight": "norm.weight",
             "lm_head.weight": "lm_head.weight"}
    for layer in range(2):
        theirs, ours = f"model.layers.{layer}.", f"layers.{layer}."
        found[theirs + "self_attn.qkv_proj.weight"] = ours + "self_attn.{q,k,v}_proj.weight"
        found[theirs + "self_attn.o_proj.weight"] = ours + "self_attn.o_proj.weight"
        found[theirs + "mlp.gate_up_proj.weight"] = ours + "{gate,up}_proj.weight"
        found[theirs + "mlp.down_proj.weight"] = ours + "down_proj.weight"
        found[theirs + "input_layernorm.weight"] = ours + "norm1.weight"
        found[theirs + "post_attention_layernorm.weight"] = ours + "norm2.weight"
    hf = config_json("Phi3ForCausalLM", "phi3", model, 64, sliding_window=4, original_max_position_embeddings=64,
                     embd_pdrop=0.0,
                     resid_pdrop=0.0, pad_token_id=28)
    return [Case("phi3", "Phi-3", {"repository": "huggingface/transformers", "paper": "arXiv:2404.14219"}, model,
                 some_inputs("phi3", model.c["vocabulary"]), our_config(model, 64, sliding_window=4), found,
                 config_json=hf)]
