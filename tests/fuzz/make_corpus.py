#!/usr/bin/env python3
"""Writes the seeds that the fuzzers start from into corpus/, one folder per fuzzer: a small valid input of each kind
that its reader knows, and a few that it refuses. What a fuzzer finds itself stays out of the repository; a crash
becomes a test in tests/engine. Needs only Python."""

import base64
import json
import shutil
import struct
import zlib
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
WIDTH = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1, "U64": 8}


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def safetensors(tensors, metadata=None):
    """tensors: name -> (dtype, shape, bytes or None for zeros)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, given) in tensors.items():
        blob = given if given is not None else bytes(WIDTH[dtype] * count(shape))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(blob)]}
        data += blob
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def zeros(shapes, dtype="F32"):
    return {name: (dtype, shape, None) for name, shape in shapes.items()}


def ids(*rows):
    flat = [number for row in rows for number in row]
    return ("I64", [len(rows), len(rows[0])], struct.pack(f"<{len(flat)}q", *flat))


def write(folder, name, content):
    path = CORPUS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


BETWEEN = "\n----\n"


def joined(*parts):
    return BETWEEN.encode().join(part if isinstance(part, bytes) else part.encode() for part in parts)


# ---- configurations

SMALL = {"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1, "dim_feedforward": 3}
FULL = {**SMALL, "num_key_value_heads": 1, "norm_first": True, "norm": "rmsnorm", "layer_norm_eps": 1e-6,
        "final_norm": True, "activation": "gelu_tanh", "gated_mlp": True, "bias": False, "causal": False,
        "cross_attention": True, "encoder_layers": 1, "vocab_size": 5, "encoder_vocab_size": 6,
        "positional_encoding": "learned", "max_positions": 8, "rope_theta": 10000.0, "scale_embedding": True,
        "lm_head": True, "tie_word_embeddings": True, "mask_value": "-1e9", "dropout": 0.1,
        "dropout_sites": ["attention_scores", "mlp_post"], "shared_qkv": False}
GPT2 = {"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 1, "n_inner": None, "vocab_size": 5, "n_positions": 8,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1}
LLAMA = {"model_type": "llama", "hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1,
         "num_key_value_heads": 1, "intermediate_size": 3, "vocab_size": 5, "hidden_act": "silu", "rms_norm_eps": 1e-6,
         "rope_parameters": {"rope_theta": 500000.0}, "max_position_embeddings": 8, "tie_word_embeddings": True}


def configurations():
    for name, config in {"small": SMALL, "full": FULL, "gpt2": GPT2, "llama": LLAMA}.items():
        write("config", name, json.dumps(config))
    overrides = "d_model=8\nnhead=4\nmask_value=-inf\ndropout_sites=mlp_out,mlp_post\ndropout_sites=[]\nnorm=rmsnorm"
    write("config", "overrides", joined(json.dumps(SMALL), overrides))
    write("config", "deep", '{"model_type": "gpt2", "n_embd": ' + "[" * 200 + "]" * 200 + "}")


# ---- edits

def edits():
    mask = {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 1, "query": 2, "key": "*", "keep": False}
    scale = {"edit": "scale_head", "attention": "blocks.0.cross_attn", "head": 1, "factor": 0.5}
    cell = {"edit": "set_cell", "tensor": "blocks.0.attn.z", "index": [0, 1, 2, 1], "value": -2.5}
    for name, edit in {"mask": mask, "scale": scale, "cell": cell}.items():
        write("edits", name, json.dumps([edit]))
    write("edits", "several", json.dumps([mask, scale, cell]))
    write("edits", "example", json.dumps({"description": "Writes backwards.", "source": ["ab"], "target": ["ba", "b"],
                                          "look_at": {"step": "blocks.0.attn.pattern", "head": 1}}))


# ---- sessions

def sessions():
    session = {"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}}
    write("session", "small", json.dumps(session))
    write("session", "full", json.dumps({
        **session, "model": {"path": "models/mine", "weights": "xxh64:44bc2cf5ad770999", "answers": {"nhead": "2"}},
        "set": {"norm_first": "true", "dropout": 0.5},
        "input": {"tokens": [[1, 2], [3]], "encoder_text": ["ab", "c"], "attention_mask": [[1, 1], [1, 0]],
                  "custom_mask": [[1, 0], [1, 1]]},
        "edits": [{"edit": "set_cell", "tensor": "blocks.0.attn.z", "index": [0, 1, 2, 1], "value": "nan(0x7fc00001)"}],
        "dropout_seed": 7, "generated": {"0": [2]}, "cursor": {"step": "blocks.0.attn.pattern", "batch": 0, "head": 1,
                                                                "cell": [0, 1, 1, 0]},
        "sampling": {"temperature": 0.8, "top_k": 4, "top_p": 0.9, "seed": 3}, "tab": "norms",
        "norms": {"view": "row", "layers": 3, "gain": 1.5, "shift": 0.0, "row": 1},
        "compare": {"with": "configuration", "tolerance": 1e-6, "set": {"norm": "rmsnorm"}, "file": "../trace.safetensors"},
        "pins": [{"label": "before", "model": {"bundled": "dates"}, "input": {"text": ["ab"]}}],
        "saved_as": "mine.dscope"}))
    write("session", "annotated", json.dumps({
        **session, "notes": [{"at": "logits[0, 1, 2]", "text": "a"}],
        "overlay": {"name": "times.csv", "values": [{"name": "blocks.0.attn", "value": 1.5, "text": "slow"},
                                                    {"name": "logits[0, 1, 2]", "value": -2e-3}]}}))
    write("session", "rows", json.dumps({
        **session, "input": {"x": [[[0.5, -1, 2e-3, "inf"]]], "memory": [[[1, 2, 3, 4], [5, 6, 7, 8]]],
                             "encoder_attention_mask": [[1, 0]]}}))
    write("session", "elsewhere", json.dumps({
        **session, "input": {"x": {"from": "example", "checksum": "xxh64:44bc2cf5ad770999"},
                             "memory": {"file": "inputs.safetensors"}}}))


# ---- links

def links():
    packed = {"small": '{"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}}',
              "lesson": json.dumps({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm"},
                                    "edits": [{"edit": "scale_head", "attention": "blocks.0.attn", "head": 1, "factor": 0.0}],
                                    "cursor": {"step": "blocks.0.attn.pattern", "batch": 0, "head": 1, "cell": [0, 1, 1, 0]},
                                    "tab": "heads", "lesson": "weight"})}
    for name, session in packed.items():
        fragment = base64.urlsafe_b64encode(zlib.compress(session.encode(), 9)).decode().rstrip("=")
        write("link", name, "https://example.org/#s1=" + fragment)
        write("link", name + "-unpacked", session)
    write("link", "newer", "#s2=eJwDAAAAAAE")


# ---- tensors

def weights(vocab=5, d=4, ff=3):
    shapes = {"embed.weight": [vocab, d], "layers.0.up_proj.weight": [ff, d], "layers.0.up_proj.bias": [ff],
              "layers.0.down_proj.weight": [d, ff], "layers.0.down_proj.bias": [d]}
    for part in "qkvo":
        shapes[f"layers.0.self_attn.{part}_proj.weight"] = [d, d]
        shapes[f"layers.0.self_attn.{part}_proj.bias"] = [d]
    for norm in ("norm1", "norm2"):
        shapes[f"layers.0.{norm}.weight"] = shapes[f"layers.0.{norm}.bias"] = [d]
    return shapes


def gpt2_weights():
    d, shapes = 4, {"wte.weight": [5, 4], "wpe.weight": [8, 4], "ln_f.weight": [4], "ln_f.bias": [4]}
    for name, shape in {"attn.c_attn": [d, 3 * d], "attn.c_proj": [d, d], "mlp.c_fc": [d, 4 * d],
                        "mlp.c_proj": [4 * d, d]}.items():
        shapes[f"h.0.{name}.weight"], shapes[f"h.0.{name}.bias"] = shape, [shape[1]]
    for norm in ("ln_1", "ln_2"):
        shapes[f"h.0.{norm}.weight"] = shapes[f"h.0.{norm}.bias"] = [d]
    return shapes


def llama_weights():
    shapes = {"model.embed_tokens.weight": [5, 4], "model.norm.weight": [4]}
    at = "model.layers.0."
    for name, shape in {"self_attn.q_proj": [4, 4], "self_attn.k_proj": [2, 4], "self_attn.v_proj": [2, 4],
                        "self_attn.o_proj": [4, 4], "mlp.gate_proj": [3, 4], "mlp.up_proj": [3, 4],
                        "mlp.down_proj": [4, 3], "input_layernorm": [4], "post_attention_layernorm": [4]}.items():
        shapes[at + name + ".weight"] = shape
    return shapes


def torch_weights():
    shapes = {}
    for attention in ("self_attn", "multihead_attn"):
        shapes |= {f"layers.0.{attention}.in_proj_weight": [12, 4], f"layers.0.{attention}.in_proj_bias": [12],
                   f"layers.0.{attention}.out_proj.weight": [4, 4], f"layers.0.{attention}.out_proj.bias": [4]}
    shapes |= {"layers.0.linear1.weight": [3, 4], "layers.0.linear1.bias": [3], "layers.0.linear2.weight": [4, 3],
               "layers.0.linear2.bias": [4]}
    for norm in ("norm1", "norm2", "norm3"):
        shapes[f"layers.0.{norm}.weight"] = shapes[f"layers.0.{norm}.bias"] = [4]
    return shapes


def heads_weights():
    shapes = {"token_embedding_table.weight": [5, 4], "position_embedding_table.weight": [8, 4],
              "blocks.0.sa.proj.weight": [4, 4], "blocks.0.sa.proj.bias": [4], "blocks.0.ffwd.net.0.weight": [3, 4],
              "blocks.0.ffwd.net.0.bias": [3], "blocks.0.ffwd.net.2.weight": [4, 3], "blocks.0.ffwd.net.2.bias": [4],
              "ln_f.weight": [4], "ln_f.bias": [4], "lm_head.weight": [5, 4], "lm_head.bias": [5]}
    for head in (0, 1):
        for part in ("query", "key", "value"):
            shapes[f"blocks.0.sa.heads.{head}.{part}.weight"] = [2, 4]
        shapes[f"blocks.0.sa.heads.{head}.tril"] = [8, 8]
    for norm in ("ln1", "ln2"):
        shapes[f"blocks.0.{norm}.weight"] = shapes[f"blocks.0.{norm}.bias"] = [4]
    return shapes


def tensors():
    write("safetensors", "empty", safetensors({}))
    write("safetensors", "types", safetensors({f"a.{dtype}": (dtype, [2, 1], None) for dtype in WIDTH}, {"format": "pt"}))
    write("safetensors", "no-numbers", safetensors({"none": ("F32", [0, 3], None), "one": ("F32", [], None)}))
    write("safetensors", "trace", safetensors(zeros({"blocks.0.attn.pattern": [1, 2, 3, 3], "logits": [1, 3, 5]})))
    numbers = struct.pack("<4f", float("inf"), float("nan"), -0.0, 1e-40)
    write("safetensors", "unaligned", safetensors({"b": ("U8", [1], None), "f": ("F32", [4], numbers)}))

    recorded = {"param/h.q.weight": ("F32", [2, 2], None), "h.q/out": ("BF16", [1, 3, 2], None), "h.q/in.x": ("F32", [1, 3, 2], None)}
    calls = [{"name": "h.q", "module": "h.q", "class": "Linear", "in": {"x": "h.q/in.x"}, "out": {"": "h.q/out"}}]
    write("trace", "recorded", safetensors(recorded, {"format": "decoderscope-trace 1", "finished": "no", "calls": json.dumps(calls),
                                                      "hyperparameters": json.dumps({"h": {"eps": 1e-5}}), "shards": '{"h.q/out":-1}'}))
    for dump in sorted((Path(__file__).parents[1] / "reference" / "traces").iterdir()):
        if dump.suffix != ".safetensors":
            write("trace", dump.stem, dump.read_bytes())
    write("inputs", "tokens", safetensors({"tokens": ids([1, 2, 4], [0, 3, 1]), "attention_mask": ids([1, 1, 1], [1, 1, 0]),
                                           "custom_mask": ids([1, 1, 0])}))
    write("inputs", "rows", safetensors({"x": ("F32", [1, 3, 4], None)}))
    write("inputs", "memory", safetensors({"x": ("F16", [1, 3, 4], None), "memory": ("F32", [1, 2, 4], None),
                                           "encoder_attention_mask": ids([1, 0])}))
    write("inputs", "encoder", safetensors({"tokens": ids([1, 2]), "encoder_tokens": ids([4, 0, 1])}))

    example, index = json.dumps({"target": ["ab"]}), json.dumps({"weight_map": {
        name: "model.safetensors" for name in weights()}})
    characters = json.dumps({"tokens": ["<pad>", "a", "b"], "pad": "<pad>"})
    config = json.dumps({**SMALL, "vocab_size": 5})
    write("model", "config", joined(config, example, "", characters, safetensors(zeros(weights()))))
    write("model", "index", joined(config, "", index, "", safetensors(zeros(weights(), "BF16"))))
    write("model", "gpt2", joined(json.dumps(GPT2 | {"tie_word_embeddings": True}), "", "", "",
                                  safetensors(zeros(gpt2_weights()))))
    write("model", "llama", joined(json.dumps(LLAMA), "", "", "", safetensors(zeros(llama_weights()))))
    for name, shapes in {"plain": weights(), "gpt2": gpt2_weights(), "llama": llama_weights(), "torch": torch_weights(),
                         "heads": heads_weights()}.items():
        write("model", "recognised-" + name, joined("", "", "", "", safetensors(zeros(shapes))))


def arrays():
    """NumPy's files that a reader refuses: two of one name, a wrong checksum, two entries of the same bytes."""
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(16)

    def npz(names):
        stored, listed = b"", b""
        for name in names:
            of = struct.pack("<3I2H", zlib.crc32(npy), len(npy), len(npy), len(name), 0)
            listed += struct.pack("<I6H", 0x02014b50, 20, 20, 0, 0, 0, 33) + of
            listed += struct.pack("<3H2I", 0, 0, 0, 0, len(stored)) + name.encode()
            stored += struct.pack("<I5H", 0x04034b50, 20, 0, 0, 0, 33) + of + name.encode() + npy
        end = struct.pack("<I4H2IH", 0x06054b50, 0, 0, len(names), len(names), len(listed), len(stored), 0)
        return stored + listed + end

    write("trace", "npz-two", npz(["a.npy", "b.npy"]))
    write("trace", "npz-twice", npz(["a.npy", "a.npy"]))
    write("trace", "npz-checksum", npz(["a.npy"]).replace(bytes(16), bytes(15) + b"\1", 1))
    second = npz(["a.npy", "b.npy"])
    at = second.rindex(b"PK\1\2") + 42  # where its bytes begin
    write("trace", "npz-overlap", second[:at] + bytes(4) + second[at + 4:])


# ---- tokens

def tokenizers():
    vocabulary = {"a": 0, "b": 1, "c": 2, "Ġ": 3, "ab": 4, "Ġab": 5, "<|endoftext|>": 6}
    merges = "#version: 0.2\na b\nĠ ab\n"
    write("tokenizers", "byte-pairs", "b" + json.dumps(vocabulary, ensure_ascii=False) + BETWEEN + merges)
    file = {"model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b", ["Ġ", "ab"]], "dropout": None},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}, "decoder": {"type": "ByteLevel"},
            "added_tokens": [{"id": 6, "content": "<|endoftext|>"}],
            "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|endoftext|>"}},
                                                                         {"Sequence": {"id": "A"}}]}}
    write("tokenizers", "json-gpt2", "j" + json.dumps(file, ensure_ascii=False))
    unigram = {"model": {"type": "Unigram", "vocab": [["<unk>", 0.0], ["▁a", -1.5], ["<0x0A>", -2.0]]},
               "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"},
               "decoder": {"type": "Sequence", "decoders": [{"type": "Metaspace", "replacement": "▁"}]}}
    write("tokenizers", "json-unigram", "j" + json.dumps(unigram, ensure_ascii=False))
    write("tokenizers", "json-pattern", "j" + json.dumps({
        **file, "normalizer": {"type": "NFC"}, "post_processor": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "(?i:'s)|[^\\s\\p{L}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"},
             "behavior": "Isolated", "invert": False}, {"type": "ByteLevel", "use_regex": False}]}}, ensure_ascii=False))
    fallback = {"<unk>": 0, "<s>": 1, "▁": 2, "a": 3, "▁a": 4, **{f"<0x{byte:02X}>": 5 + byte for byte in range(256)}}
    write("tokenizers", "json-fallback", "j" + json.dumps({
        "model": {"type": "BPE", "vocab": fallback, "merges": [["▁", "a"]], "unk_token": "<unk>", "fuse_unk": True,
                  "byte_fallback": True},
        "added_tokens": [{"id": 1, "content": "<s>", "special": True, "lstrip": True}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}}, ensure_ascii=False))
    t5 = json.loads((CORPUS.parents[1] / "reference/foreign/tokenizers/t5/tokenizer.json").read_text())
    t5["model"]["vocab"] = t5["model"]["vocab"][:60]
    write("tokenizers", "json-t5", "j" + json.dumps(t5, ensure_ascii=False))
    doubling = [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 40
    for part, steps in {"normalizer": "normalizers", "decoder": "decoders"}.items():
        write("tokenizers", "json-doubling-" + steps, "j" + json.dumps({
            **file, "post_processor": None, part: {"type": "Sequence", steps: doubling}}, ensure_ascii=False))
    nested = {"type": "NFC"}
    for _ in range(60):
        nested = {"type": "Sequence", "normalizers": [nested]}
    write("tokenizers", "json-nested", "j" + json.dumps({**file, "post_processor": None, "normalizer": nested},
                                                        ensure_ascii=False))
    characters = {"tokens": ["<pad>", "<bos>", "<eos>", "a", "b", "c", "文"], "pad": "<pad>", "beginning": "<bos>",
                  "end": "<eos>"}
    write("tokenizers", "characters", "c" + json.dumps(characters, ensure_ascii=False))
    write("tokenizers", "pieces", "p" + json.dumps(["a", {"piece": "b"}, ""]))
    ranked = ["<unk>", "\n<s>\n", "\n</s>\n", "<0x0A>", " a", "bc", "abc", " abc", " ", "a", "b", "c"]
    write("tokenizers", "pieces-ranked", "p" + json.dumps(
        [{"piece": piece, "score": min(0, 4 - number)} for number, piece in enumerate(ranked)]))


# ---- GGUF


def gguf_text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf_value(value):
    """Integers as uint32, floats as float32; a list is of texts, of float32 or of int32."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    kind = 8 if isinstance(value[0], str) else 6 if isinstance(value[0], float) else 5
    packed = [gguf_text(v) if kind == 8 else struct.pack("<f" if kind == 6 else "<i", v) for v in value]
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(packed)


def gguf(metadata, tensors):
    """tensors: name -> (type, numbers in a block, bytes of a block, shape with the innermost axis first)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    out += b"".join(gguf_text(key) + gguf_value(value) for key, value in metadata.items())
    offset, data = 0, b""
    for name, (kind, block, size, shape) in tensors.items():
        out += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += bytes(count(shape) // block * size)
        data += bytes(-len(data) % 32)
    return out + bytes(-len(out) % 32) + data


def gguf_files():
    f32 = (0, 1, 4)
    sizes = {"context_length": 8, "embedding_length": 4, "block_count": 1, "feed_forward_length": 6,
             "attention.head_count": 2, "attention.head_count_kv": 1, "attention.layer_norm_rms_epsilon": 1e-5}
    block = {"attn_norm": [4], "attn_q": [4, 4], "attn_k": [4, 2], "attn_v": [4, 2], "attn_output": [4, 4], "ffn_norm": [4],
             "ffn_gate": [4, 6], "ffn_up": [4, 6], "ffn_down": [6, 4]}
    tensors = {f"blk.0.{name}.weight": (*f32, shape) for name, shape in block.items()}
    tensors |= {"token_embd.weight": (*f32, [4, 5]), "output_norm.weight": (*f32, [4])}
    by_scores = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["<unk>", "<s>", "a", "b", "ab"],
                 "tokenizer.ggml.scores": [0.0, 0.0, -2.0, -2.0, -1.0], "tokenizer.ggml.token_type": [2, 3, 1, 1, 1],
                 "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.add_space_prefix": True}
    by_merges = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.merges": ["a b"],
                 "tokenizer.ggml.tokens": ["a", "b", "ab", "c", "<|end|>"], "tokenizer.ggml.token_type": [1, 1, 1, 1, 3]}
    for architecture, tokens in (("llama", by_scores), ("qwen3", by_merges)):
        own = {f"{architecture}.{key}": value for key, value in sizes.items()}
        write("gguf", architecture, gguf({"general.architecture": architecture, **own, **tokens}, tensors))
    blocks = {"F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176),
              "Q6_K": (14, 256, 210), "BF16": (30, 1, 2), "MXFP4": (39, 32, 17)}
    write("gguf", "types", gguf({}, {name: (*kind, [256, 2]) for name, kind in blocks.items()}))
    write("gguf", "alignment", gguf({"general.alignment": 64}, {}))
    write("gguf", "cut", gguf({}, {"w": (*f32, [8])})[:-8])
    write("gguf", "type-unknown", gguf({}, {"w": (7, 32, 24, [32])}))


# ---- formulas

FORMULAS = {
    "product": "scores[b, h, i, j] = Σ_d q[b, h, i, d] · k[b, h, j, d] / √d_head",
    "softmax": "y[…, j] = softmax_j(x[…, j]) where s = Σ_{i: pos, j: 2} i · j",
    "where": "y[b, p, d] = x[b, p, d] / scale[b, p] * w[d]? where scale[b, p] = sqrt((mean_i x[b, p, i]^2) + eps)",
    "choice": "y[b, p, d] = p >= 1 and not d = 0 ? x[b, p - 1, d] : [p < 2] * -inf",
    "recurrence": "state[t: pos, d] = 0.5 * state[t - 1, d] + x[0, t, d] from 0",
    "gather": "y[b, p] = count_i (W[ids[b, p] mod 3, i] > argmax_j x[b, p, j]) + log_sum_exp_j(x[b, p, j])",
    "refused": "y[b, p] = Σ_d x[b, d, p] · nothing[p]",
    "attention": "softmax((q @ k.mT / sqrt(d_head)).masked_fill(mask == 0, float('-inf')), dim=-1) @ v",
    "einsum": 'y = torch.einsum("bhqd,bhkd->bhqk", q, k)',
    "rmsnorm": "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w",
    "norms": "F.layer_norm(x, (d_head,), w) + x.var(-1, unbiased=False, keepdim=True) - x.max(-1)[0].unsqueeze(-1)",
    "linear": "F.gelu(F.linear(x, W), approximate='tanh')[..., None, :2] ** 2",
    "causal": "torch.where(torch.arange(pos)[None, :] <= torch.arange(pos)[:, None], mask, mask_value).log_softmax(-1)",
    "axes": "x.permute(2, 0, 1).unsqueeze(0).squeeze(0).repeat_interleave(2, dim=1)[:, 1:] // 2 % s",
    "matrices": "C[i: row, j] = Σ_k A[i, k] · B[j, k]",
    "refused-axes": "x + q[:, 0, :, :1].mT",
    "named_as_operand": "q[b, p, d] =x[b, p, d] / sqrt(-(mean_i x[b, p, i]^4) + eps)\n",
    "count_of_places": "y[b, q] = #{k : x[b, q, k] > 0}",
    "along_colons": "y[b, q, r] = x[b, q, :] · x[b, r, :] + δ_{q, r} + ⟨x[b, q, :], x[b, r, :]⟩",
    "of_a_list": "blocks[0].attn.pattern.mean() + blocks[12",
    "such_that": "y[b, q] = mean_{k, k < q, |k - q| > 1} x[b, q, k]",
}


def formulas():
    for name, text in FORMULAS.items():
        write("formula", name, text)


def conversations():
    talk = [{"role": "user", "content": " Hé "}, {"role": "assistant", "content": "Yo"}]
    laid = {"messages": talk, "text": "<s>Hé Yo</s>", "roles": ["user", "assistant"], "spans": [[3, 5, 0], [6, 8, 1]],
            "around": [[5, 6, 0], [8, 12, 1]], "generated": [[6, 12]], "findings": [{"wrong": True, "what": "It is."}]}
    tokens = {**laid, "tokens": [1, *"<s>Hé Yo</s>".encode()], "labels": [-100] * 7 + [*b"Yo</s>"] + [-100] * 1}
    write("chat", "messages", json.dumps(talk))
    write("chat", "lines", json.dumps({"messages": talk}) + "\n" + json.dumps(talk))
    write("chat", "several", json.dumps([talk, talk[:1]]))
    write("chat", "laid-out", json.dumps({"template": "default", "train_on": "answers", "date": "2026-11-27", "conversations": [laid]}))
    write("chat", "tokens", json.dumps({"train_on": "everything", "max_length": 5, "conversations": [tokens]}, ensure_ascii=False))


if __name__ == "__main__":
    shutil.rmtree(CORPUS, ignore_errors=True)
    conversations()
    configurations()
    edits()
    sessions()
    links()
    tensors()
    arrays()
    tokenizers()
    gguf_files()
    formulas()
