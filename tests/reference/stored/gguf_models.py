"""Small models as GGUF files hold them, one of each architecture that is read, with the modules of ../foreign and its tokenizers.

A tensor's numbers are packed first; the module computes with what they stand for.
"""

import json
import math
import pathlib
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

import families.gpt2 as gpt2_family
from case import Case, some_inputs
from families import gpt_oss as gpt_oss_family, llama_like, phi3 as phi3_family
from families.gpt2 import GPT2
from families.llama_like import LlamaLike, our_config
from families.mixtures import Mixture
from parts import frequencies, rotary, yarn_frequencies
from stored import ggml_types

TOKENIZERS = pathlib.Path(__file__).resolve().parent.parent / "foreign" / "tokenizers"
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


@dataclass
class Made:
    case: Case
    metadata: dict
    tensors: dict = field(default_factory=dict)  # GGUF's name -> (type, the numbers that it stands for)
    tokens: list = field(default_factory=list)  # texts and their ids

    def put(self, name, kind, parameter, to=lambda w: w, back=lambda w: w):
        """One parameter under a name, as a type; `to` is how the file has its rows, `back` undoes it. The module gets the
        numbers that are left."""
        value = to(parameter.detach().numpy())
        value = ggml_types.expand(kind, ggml_types.pack(kind, value), value.shape)
        self.tensors[name] = kind, value
        parameter.data = torch.from_numpy(np.ascontiguousarray(back(value)))


# --- tokenizers -------------------------------------------------------------------------------------------------------


def tokenizer(name):
    folder = TOKENIZERS / name
    return (json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")),
            json.loads((folder / "golden.json").read_text(encoding="utf-8"))["cases"])


def in_order(file):
    """Every token with its type, by id."""
    pieces = {id: piece for piece, id in file["model"]["vocab"].items()}
    added = {token["id"]: token["content"] for token in file["added_tokens"]}
    pieces.update(added)
    assert sorted(pieces) == list(range(len(pieces)))
    kinds = []
    for id in range(len(pieces)):
        byte = pieces[id].startswith("<0x") and len(pieces[id]) == 6
        kinds.append(CONTROL if id in added else BYTE if byte else NORMAL)
    return [pieces[id] for id in range(len(pieces))], kinds


def merging(pieces, scores, text):
    """The `llama` kind: characters, of which the pair with the best score is joined until none is a token; a character that
    isn't a token is its bytes. Of equal scores the first pair."""
    number = {piece: id for id, piece in enumerate(pieces)}
    parts = list("▁" + text.replace(" ", "▁")) if text else []
    while True:
        pairs = [(-scores[number[a + b]], at) for at, (a, b) in enumerate(zip(parts, parts[1:])) if a + b in number]
        if not pairs:
            break
        at = min(pairs)[1]
        parts[at:at + 2] = [parts[at] + parts[at + 1]]
    ids = []
    for part in parts:
        ids += [number[part]] if part in number else [number[f"<0x{byte:02X}>"] for byte in part.encode()]
    return ids


def llama_tokens():
    """The `llama` kind has scores: the later a merge, the lower."""
    file, golden = tokenizer("llama-2")
    pieces, kinds = in_order(file)
    kinds[pieces.index("<unk>")] = UNKNOWN
    first = kinds.index(NORMAL)
    scores = [0.0 if kind != NORMAL else float(first - id) for id, kind in enumerate(kinds)]
    metadata = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default", "tokenizer.ggml.tokens": pieces,
                "tokenizer.ggml.scores": ("float32", scores), "tokenizer.ggml.token_type": ("int32", kinds),
                "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
                "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": False,
                "tokenizer.ggml.add_space_prefix": True}
    same = [case for case in golden if merging(pieces, scores, case["text"]) == case["ids"]]
    print(f"llama tokens: {len(same)} of {len(golden)} texts have the same ids by scores as by merges")
    return metadata, len(pieces), [{"text": case["text"], "ids": case["ids"]} for case in same]


def byte_level_tokens(name, pre):
    """The `gpt2` kind has merges, and a name for the pattern that splits a text."""
    file, golden = tokenizer(name)
    pieces, kinds = in_order(file)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in file["model"]["merges"]]
    end = pieces.index("<|endoftext|>")
    metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": pieces,
                "tokenizer.ggml.token_type": ("int32", kinds), "tokenizer.ggml.merges": merges,
                "tokenizer.ggml.bos_token_id": end, "tokenizer.ggml.eos_token_id": end,
                "tokenizer.ggml.add_bos_token": False}
    return metadata, len(pieces), [{"text": case["text"], "ids": case["ids"]} for case in golden]


# --- models -----------------------------------------------------------------------------------------------------------


def general(architecture, name):
    return {"general.architecture": architecture, "general.type": "model", "general.name": name,
            "general.quantization_version": 2, "general.file_type": 7}


def neighbours(heads):
    """llama.cpp turns neighbouring columns, so that it stores the rows of each head's halves in turn: `to` and `back`."""
    def to(weight):
        return weight.reshape(heads, 2, -1, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)

    def back(weight):
        return weight.reshape(heads, -1, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)

    return to, back


def source(paper):
    return {"repository": "ggml-org/llama.cpp", "paper": paper}


def llama():
    tokens, vocabulary, golden = llama_tokens()
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=8, d_ff=256, layers=3, vocabulary=vocabulary, eps=1e-5,
                      theta=500.0)
    case = Case("llama", "Llama as GGUF, a type for each matrix", source("arXiv:2302.13971"), model,
                some_inputs("gguf-llama", vocabulary), our_config(model, 64), llama_like.names(model))
    metadata = {**general("llama", "a small Llama"), "llama.context_length": 64, "llama.embedding_length": 32,
                "llama.block_count": 3, "llama.feed_forward_length": 256, "llama.attention.head_count": 4,
                "llama.attention.head_count_kv": 2, "llama.rope.dimension_count": 8, "llama.rope.freq_base": 500.0,
                "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.vocab_size": vocabulary, **tokens}
    made = Made(case, metadata, tokens=golden)
    m = model.model
    made.put("token_embd.weight", "Q8_0", m.embed_tokens.weight)
    for layer, (block, down) in enumerate(zip(m.layers, ("Q4_K", "Q5_K", "Q6_K"))):
        at, a, f = f"blk.{layer}.", block.self_attn, block.mlp
        made.put(at + "attn_norm.weight", "F32", block.input_layernorm.weight)
        made.put(at + "attn_q.weight", "Q4_0", a.q_proj.weight, *neighbours(4))
        made.put(at + "attn_k.weight", "Q8_0", a.k_proj.weight, *neighbours(2))
        made.put(at + "attn_v.weight", "F16", a.v_proj.weight)
        made.put(at + "attn_output.weight", "BF16", a.o_proj.weight)
        made.put(at + "ffn_norm.weight", "F32", block.post_attention_layernorm.weight)
        made.put(at + "ffn_gate.weight", "Q4_0", f.gate_proj.weight)
        made.put(at + "ffn_up.weight", "MXFP4", f.up_proj.weight)
        made.put(at + "ffn_down.weight", down, f.down_proj.weight)
    made.put("output_norm.weight", "F32", m.norm.weight)
    made.put("output.weight", "Q8_0", model.lm_head.weight)
    return made


def gpt2():
    tokens, vocabulary, golden = byte_level_tokens("gpt2", "gpt-2")
    model = GPT2(vocabulary, 24, 32, 2, 2)
    ours = {"model_type": "decoderscope", "d_model": 32, "nhead": 2, "num_layers": 2, "norm_first": True, "final_norm": True,
            "activation": "gelu_tanh", "vocab_size": vocabulary, "positional_encoding": "learned", "max_positions": 24,
            "lm_head": True, "tie_word_embeddings": True}
    case = Case("gpt2", "GPT-2 as GGUF, the head tied", source("Radford et al. 2019"), model,
                some_inputs("gguf-gpt2", vocabulary), ours, gpt2_family.names(2), unsaved=("lm_head.weight",))
    metadata = {**general("gpt2", "a small GPT-2"), "gpt2.context_length": 24, "gpt2.embedding_length": 32,
                "gpt2.feed_forward_length": 128, "gpt2.block_count": 2, "gpt2.attention.head_count": 2,
                "gpt2.attention.layer_norm_epsilon": 1e-5, **tokens}
    made = Made(case, metadata, tokens=golden)
    t, turned = model.transformer, (lambda w: w.T, lambda w: w.T)  # the file has [out, in]
    made.put("token_embd.weight", "F16", t.wte.weight)
    made.put("position_embd.weight", "F32", t.wpe.weight)
    for layer, block in enumerate(t.h):
        at = f"blk.{layer}."
        parts = {"attn_norm": block.ln_1, "attn_qkv": block.attn.c_attn, "attn_output": block.attn.c_proj,
                 "ffn_norm": block.ln_2, "ffn_up": block.mlp.c_fc, "ffn_down": block.mlp.c_proj}
        kinds = {"attn_qkv": "Q8_0", "attn_output": "F16", "ffn_up": "BF16", "ffn_down": "Q4_0"}
        for name, part in parts.items():
            made.put(f"{at}{name}.weight", kinds.get(name, "F32"), part.weight, *(turned if name in kinds else ()))
            made.put(f"{at}{name}.bias", "F32", part.bias)
    made.put("output_norm.weight", "F32", t.ln_f.weight)
    made.put("output_norm.bias", "F32", t.ln_f.bias)
    return made


class Stack(nn.Module):
    """All experts' matrices of one kind, as the file has them."""

    def __init__(self, linears):
        super().__init__()
        self.weight = nn.Parameter(torch.stack([linear.weight.detach() for linear in linears]))

    def hand_back(self, linears):
        for linear, value in zip(linears, self.weight.detach()):
            linear.weight.data = value.clone()


def qwen3moe():
    tokens, vocabulary, golden = byte_level_tokens("qwen2", "qwen2")
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=16, d_ff=64, vocabulary=vocabulary, qk_norm="head",
                      theta=1000000.0, feed_forward=lambda c, layer: Mixture(32, 32, 4, count=2, normalize=True))
    ours = our_config(model, 64, qk_norm=True, experts=4, experts_per_token=2, expert_dim_feedforward=32,
                      router_normalize=True)
    case = Case("qwen3moe", "Qwen3-MoE as GGUF, experts stacked", source("arXiv:2505.09388"), model,
                some_inputs("gguf-qwen3moe", vocabulary), ours, llama_like.names(model))
    key = "qwen3moe."
    metadata = {**general("qwen3moe", "a small Qwen3-MoE"), key + "context_length": 64, key + "embedding_length": 32,
                key + "block_count": 2, key + "feed_forward_length": 64, key + "attention.head_count": 4,
                key + "attention.head_count_kv": 2, key + "attention.key_length": 16, key + "attention.value_length": 16,
                key + "attention.layer_norm_rms_epsilon": 1e-6, key + "rope.freq_base": 1000000.0, key + "expert_count": 4,
                key + "expert_used_count": 2, key + "expert_feed_forward_length": 32, **tokens}
    made = Made(case, metadata, tokens=golden)
    m = model.model
    made.put("token_embd.weight", "Q8_0", m.embed_tokens.weight)
    for layer, block in enumerate(m.layers):
        at, a, f = f"blk.{layer}.", block.self_attn, block.mlp
        made.put(at + "attn_norm.weight", "F32", block.input_layernorm.weight)
        for name, part, kind in (("attn_q", a.q_proj, "Q8_0"), ("attn_k", a.k_proj, "Q8_0"), ("attn_v", a.v_proj, "Q4_0"),
                                 ("attn_output", a.o_proj, "MXFP4"), ("attn_q_norm", a.q_norm, "F32"),
                                 ("attn_k_norm", a.k_norm, "F32"), ("ffn_norm", block.post_attention_layernorm, "F32"),
                                 ("ffn_gate_inp", f.gate, "F32")):
            made.put(f"{at}{name}.weight", kind, part.weight)
        for name, part, kind in (("ffn_gate_exps", "gate_proj", "MXFP4"), ("ffn_up_exps", "up_proj", "Q8_0"),
                                 ("ffn_down_exps", "down_proj", "Q4_0")):
            linears = [getattr(expert, part) for expert in f.experts]
            stack = Stack(linears)
            made.put(f"{at}{name}.weight", kind, stack.weight)
            stack.hand_back(linears)
    made.put("output_norm.weight", "F32", m.norm.weight)
    made.put("output.weight", "Q8_0", model.lm_head.weight)
    return made


def gemma3():
    """Six layers, the last of which has no window; the file doesn't say so, and neither the windowed layers' base."""
    tokens, vocabulary, golden = llama_tokens()
    near, far = frequencies(8, 10000.0), frequencies(8, 500.0) / 4.0
    model = LlamaLike(d_model=32, heads=2, kv_heads=1, d_head=8, d_ff=32, layers=6, vocabulary=vocabulary, plus_one=True,
                      activation="gelu_tanh", scale_embedding=True, tied=True, place="peri", qk_norm="head", theta=500.0,
                      windows=(3,) * 5 + (0,), turns=[rotary(near)] * 5 + [rotary(far)])
    ours = our_config(model, 64, scale_embedding=True, norm_placement="peri", qk_norm=True, sliding_window=3,
                      sliding_window_layers=list(range(5)), rope_local_theta=10000.0, rope_scaling="linear", rope_factor=4.0,
                      head_dim=8)
    case = Case("gemma3", "Gemma 3 as GGUF", source("arXiv:2503.19786"), model, some_inputs("gguf-gemma3", vocabulary), ours,
                llama_like.names(model), unsaved=("lm_head.weight",))
    metadata = {**general("gemma3", "a small Gemma 3"), "gemma3.context_length": 64, "gemma3.embedding_length": 32,
                "gemma3.block_count": 6, "gemma3.feed_forward_length": 32, "gemma3.attention.head_count": 2,
                "gemma3.attention.head_count_kv": 1, "gemma3.attention.key_length": 8, "gemma3.attention.value_length": 8,
                "gemma3.attention.layer_norm_rms_epsilon": 1e-6, "gemma3.attention.sliding_window": 3,
                "gemma3.rope.freq_base": 500.0, "gemma3.rope.scaling.type": "linear", "gemma3.rope.scaling.factor": 4.0,
                **tokens}
    made = Made(case, metadata, tokens=golden)
    m, one = model.model, (lambda w: w + 1, lambda w: w - 1)  # the file has the whole gain
    made.put("token_embd.weight", "Q8_0", m.embed_tokens.weight)
    for layer, block in enumerate(m.layers):
        at, a, f = f"blk.{layer}.", block.self_attn, block.mlp
        for name, part in (("attn_norm", block.input_layernorm), ("attn_q_norm", a.q_norm), ("attn_k_norm", a.k_norm),
                           ("post_attention_norm", block.post_attention_layernorm),
                           ("ffn_norm", block.pre_feedforward_layernorm), ("post_ffw_norm", block.post_feedforward_layernorm)):
            made.put(f"{at}{name}.weight", "F32", part.weight, *one)
        for name, part, kind in (("attn_q", a.q_proj, "Q8_0"), ("attn_k", a.k_proj, "Q4_0"), ("attn_v", a.v_proj, "F16"),
                                 ("ffn_gate", f.gate_proj, "Q8_0"), ("ffn_up", f.up_proj, "Q4_0"),
                                 ("ffn_down", f.down_proj, "Q8_0")):
            made.put(f"{at}{name}.weight", kind, part.weight)
        made.put(at + "attn_output.weight", "F16", a.o_proj.weight)
    made.put("output_norm.weight", "F32", m.norm.weight, *one)
    return made


def phi3():
    tokens, vocabulary, golden = llama_tokens()
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=8, d_ff=32, vocabulary=vocabulary, eps=1e-5, windows=(4, 4),
                      block=phi3_family.Block)
    case = Case("phi3", "Phi-3 as GGUF", source("arXiv:2404.14219"), model, some_inputs("gguf-phi3", vocabulary),
                our_config(model, 64, sliding_window=4), phi3_family.names(2))
    metadata = {**general("phi3", "a small Phi-3"), "phi3.context_length": 64, "phi3.embedding_length": 32,
                "phi3.rope.scaling.original_context_length": 64, "phi3.block_count": 2, "phi3.feed_forward_length": 32,
                "phi3.attention.head_count": 4, "phi3.attention.head_count_kv": 2, "phi3.rope.dimension_count": 8,
                "phi3.rope.freq_base": 10000.0, "phi3.attention.layer_norm_rms_epsilon": 1e-5,
                "phi3.attention.sliding_window": 4, **tokens}
    made = Made(case, metadata, tokens=golden)
    m = model.model
    made.put("token_embd.weight", "Q8_0", m.embed_tokens.weight)
    for layer, block in enumerate(m.layers):
        at = f"blk.{layer}."
        for name, part, kind in (("attn_norm", block.input_layernorm, "F32"), ("attn_qkv", block.self_attn.qkv_proj, "Q8_0"),
                                 ("attn_output", block.self_attn.o_proj, "Q4_0"),
                                 ("ffn_norm", block.post_attention_layernorm, "F32"),
                                 ("ffn_up", block.mlp.gate_up_proj, "Q8_0"), ("ffn_down", block.mlp.down_proj, "BF16")):
            made.put(f"{at}{name}.weight", kind, part.weight)
    made.put("output_norm.weight", "F32", m.norm.weight)
    made.put("output.weight", "Q8_0", model.lm_head.weight)
    return made


def gpt_oss():
    """YaRN with what the file says of it; beta_fast, beta_slow, the limit and that nothing is truncated are the family's."""
    tokens, vocabulary, _ = byte_level_tokens("gpt2", "gpt-4o")
    turn = rotary(yarn_frequencies(16, 60.0, 4.0, 1024, truncate=False), factor=0.1 * math.log(4.0) + 1)
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=16, d_ff=32, eps=1e-5, theta=60.0, qkv_bias=True, out_bias=True,
                      sinks=True, windows=(3, 0), turns=[turn] * 2, vocabulary=vocabulary,
                      feed_forward=lambda c, layer: gpt_oss_family.Experts(limit=7.0))
    ours = our_config(model, 4096, experts=4, experts_per_token=2, expert_dim_feedforward=32, router_normalize=True,
                      activation="swiglu_clamped", attention_sinks=True, sliding_window=3, sliding_window_layers=[0],
                      rope_scaling="yarn", rope_factor=4.0, rope_original_positions=1024, rope_truncate=False)
    case = Case("gpt-oss", "gpt-oss as GGUF", source("arXiv:2508.10925"), model, some_inputs("gguf-gpt-oss", vocabulary),
                ours, llama_like.names(model))
    key = "gpt-oss."
    metadata = {**general("gpt-oss", "a small gpt-oss"), key + "context_length": 4096, key + "embedding_length": 32,
                key + "block_count": 2, key + "feed_forward_length": 32, key + "attention.head_count": 4,
                key + "attention.head_count_kv": 2, key + "attention.key_length": 16, key + "attention.value_length": 16,
                key + "attention.layer_norm_rms_epsilon": 1e-5, key + "attention.sliding_window": 3,
                key + "rope.freq_base": 60.0, key + "rope.scaling.type": "yarn", key + "rope.scaling.factor": 4.0,
                key + "rope.scaling.original_context_length": 1024, key + "expert_count": 4, key + "expert_used_count": 2,
                key + "expert_feed_forward_length": 32, **tokens}
    made = Made(case, metadata)  # no texts: the vocabulary wasn't made with this pattern
    m = model.model
    made.put("token_embd.weight", "Q8_0", m.embed_tokens.weight)
    for layer, block in enumerate(m.layers):
        at, a, f = f"blk.{layer}.", block.self_attn, block.mlp
        made.put(at + "attn_norm.weight", "F32", block.input_layernorm.weight)
        for name, part in (("attn_q", a.q_proj), ("attn_k", a.k_proj), ("attn_v", a.v_proj), ("attn_output", a.o_proj)):
            made.put(f"{at}{name}.weight", "Q8_0", part.weight)
            made.put(f"{at}{name}.bias", "F32", part.bias)
        made.put(at + "attn_sinks.weight", "F32", a.sinks)
        made.put(at + "post_attention_norm.weight", "F32", block.post_attention_layernorm.weight)
        made.put(at + "ffn_gate_inp.weight", "F32", f.router.weight)
        made.put(at + "ffn_gate_inp.bias", "F32", f.router.bias)
        e = f.experts
        for name, rows in (("gate", slice(0, None, 2)), ("up", slice(1, None, 2))):
            for ending, parameter, kind in (("weight", e.gate_up_proj, "MXFP4"), ("bias", e.gate_up_proj_bias, "F32")):
                own = nn.Parameter(parameter.detach()[..., rows].clone())
                turned = (lambda w: w.swapaxes(1, 2),) * 2 if ending == "weight" else ()
                made.put(f"{at}ffn_{name}_exps.{ending}", kind, own, *turned)
                parameter.data[..., rows] = own.detach()
        made.put(at + "ffn_down_exps.weight", "MXFP4", e.down_proj, *(lambda w: w.swapaxes(1, 2),) * 2)
        made.put(at + "ffn_down_exps.bias", "F32", e.down_proj_bias)
    made.put("output_norm.weight", "F32", m.norm.weight)
    made.put("output.weight", "Q8_0", model.lm_head.weight)
    return made


def dense(model, name, title, paper, tokens, more, ours, kinds, gain=()):
    """A dense decoder of Llama's kind, with q, k and v apart. `more` is metadata besides the sizes; `kinds` are the types of the
    attention's, the MLP's and the embedding's matrices; `gain` is how the file has a norm's."""
    c, (tokens, vocabulary, golden) = model.c, tokens
    case = Case(name, title, source(paper), model, some_inputs("gguf-" + name, vocabulary), our_config(model, 64, **ours),
                llama_like.names(model), unsaved=("lm_head.weight",) if c["tied"] else ())
    sizes = {"context_length": 64, "embedding_length": c["d_model"], "block_count": c["layers"],
             "feed_forward_length": c["d_ff"], "attention.head_count": c["heads"],
             "attention.head_count_kv": c["kv_heads"], "attention.layer_norm_rms_epsilon": c["eps"],
             "rope.freq_base": c["theta"], **more}
    if c["d_head"] * c["heads"] != c["d_model"]:
        sizes.update({"attention.key_length": c["d_head"], "attention.value_length": c["d_head"]})
    made = Made(case, {**general(name, f"a small {title}"), **{f"{name}.{key}": value for key, value in sizes.items()},
                       **tokens}, tokens=golden)
    m, (of_attention, of_mlp, of_embedding) = model.model, kinds
    made.put("token_embd.weight", of_embedding, m.embed_tokens.weight)
    for layer, block in enumerate(m.layers):
        at, a, f = f"blk.{layer}.", block.self_attn, block.mlp
        norms = {"attn_norm": block.input_layernorm, "ffn_norm": block.post_attention_layernorm}
        if c["place"] == "peri":
            norms |= {"post_attention_norm": block.post_attention_layernorm, "ffn_norm": block.pre_feedforward_layernorm,
                      "post_ffw_norm": block.post_feedforward_layernorm}
        if c["qk_norm"]:
            norms |= {"attn_q_norm": a.q_norm, "attn_k_norm": a.k_norm}
        for part, norm in norms.items():
            made.put(f"{at}{part}.weight", "F32", norm.weight, *gain)
        for part, linear in (("attn_q", a.q_proj), ("attn_k", a.k_proj), ("attn_v", a.v_proj)):
            made.put(f"{at}{part}.weight", of_attention, linear.weight)
            if c["qkv_bias"]:
                made.put(f"{at}{part}.bias", "F32", linear.bias)
        made.put(at + "attn_output.weight", of_attention, a.o_proj.weight)
        for part, linear in (("ffn_gate", f.gate_proj), ("ffn_up", f.up_proj), ("ffn_down", f.down_proj)):
            made.put(f"{at}{part}.weight", of_mlp, linear.weight)
    made.put("output_norm.weight", "F32", m.norm.weight, *gain)
    if not c["tied"]:
        made.put("output.weight", "Q8_0", model.lm_head.weight)
    return made


WHOLE_GAIN = (lambda w: w + 1, lambda w: w - 1)


def qwen2():
    tokens = byte_level_tokens("qwen2", "qwen2")
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=8, d_ff=64, vocabulary=tokens[1], theta=1000000.0,
                      qkv_bias=True, tied=True)
    return dense(model, "qwen2", "Qwen 2 as GGUF, biases of q, k and v, the head tied", "arXiv:2407.10671", tokens, {}, {},
                 ("Q8_0", "Q4_0", "Q8_0"))


def qwen3():
    tokens = byte_level_tokens("qwen2", "qwen2")
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=16, d_ff=256, vocabulary=tokens[1], theta=1000000.0,
                      qk_norm="head")
    made = dense(model, "qwen3", "Qwen 3 as GGUF, heads wider than d_model / nhead", "arXiv:2505.09388", tokens, {},
                 {"qk_norm": True}, ("Q8_0", "Q4_0", "Q8_0"))
    for layer, kind in enumerate(("Q4_K", "Q6_K")):  # rows of 256
        made.put(f"blk.{layer}.ffn_down.weight", kind, model.model.layers[layer].mlp.down_proj.weight)
    return made


def gemma():
    tokens = llama_tokens()
    model = LlamaLike(d_model=32, heads=4, kv_heads=1, d_head=16, d_ff=64, vocabulary=tokens[1], plus_one=True,
                      activation="gelu_tanh", scale_embedding=True, tied=True)
    return dense(model, "gemma", "Gemma as GGUF, one key head, heads wider than d_model / nhead", "arXiv:2403.08295", tokens,
                 {}, {"scale_embedding": True}, ("Q4_0", "Q8_0", "F16"), WHOLE_GAIN)


def gemma2():
    """Every other layer has a window, beginning with the first; the file doesn't say which."""
    tokens = llama_tokens()
    model = LlamaLike(d_model=32, heads=4, kv_heads=2, d_head=16, d_ff=64, layers=3, vocabulary=tokens[1], plus_one=True,
                      activation="gelu_tanh", scale_embedding=True, tied=True, place="peri", windows=(3, 0, 3), cap=5.0,
                      logit_cap=7.0)
    return dense(model, "gemma2", "Gemma 2 as GGUF, both soft caps", "arXiv:2408.00118", tokens,
                 {"attention.sliding_window": 3, "attn_logit_softcapping": 5.0, "final_logit_softcapping": 7.0},
                 {"scale_embedding": True, "norm_placement": "peri", "sliding_window": 3, "sliding_window_layers": [0, 2],
                  "attention_soft_cap": 5.0, "logit_soft_cap": 7.0}, ("Q8_0", "Q4_0", "Q8_0"), WHOLE_GAIN)


def all_models():
    return [llama(), gpt2(), gemma(), gemma2(), gemma3(), phi3(), qwen2(), qwen3(), qwen3moe(), gpt_oss()]
