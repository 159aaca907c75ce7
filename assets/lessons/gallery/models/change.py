"""Changes a model's folder in place, before or after it learns; see README.md.

    python3 change.py sinks|router|as-transformers FOLDER
"""
import json
import pathlib
import struct
import sys


def read(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    parts = {name: [8 + length + offset for offset in about["data_offsets"]] for name, about in header.items()}
    return {name: (about["dtype"], about["shape"], data[slice(*parts[name])]) for name, about in header.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, blob) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(blob)]}
        data += blob
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def with_numbers(folder, name, numbers):
    """The same numbers in both layers."""
    tensors = read(folder / "model.safetensors")
    for layer in range(2):
        tensors[f"layers.{layer}.{name}"] = ("F32", [len(numbers)], struct.pack(f"<{len(numbers)}f", *numbers))
    write(folder / "model.safetensors", tensors)


def sinks(folder):
    """Each head begins with a sink that takes most of its weight."""
    with_numbers(folder, "self_attn.sinks", (3.0,) * 4)


def router(folder):
    """Small scores, the first expert's the smallest, and a correction that has it chosen all the same."""
    with_numbers(folder, "router.bias", (-5.0, -3.0, -3.0, -3.0))
    with_numbers(folder, "router.correction", (0.3, -0.02, 0.02, 0.0))


BEGINNINGS = {"embed.": "model.embed_tokens.", "norm.": "model.norm.", "layers.": "model.layers."}
PARTS = {".norm1.": ".input_layernorm.", ".norm2.": ".post_attention_layernorm.",
         **{f".{part}_proj.": f".mlp.{part}_proj." for part in ("gate", "up", "down")}}


def their_name(name):
    for ours, theirs in BEGINNINGS.items():
        name = theirs + name.removeprefix(ours) if name.startswith(ours) else name
    for ours, theirs in PARTS.items():
        name = name.replace(ours, theirs)
    return name


def as_transformers(folder):
    """A small SmolLM3 as Transformers 5 writes it."""
    ours = json.loads((folder / "config.json").read_text())
    theirs = {
        "architectures": ["SmolLM3ForCausalLM"], "model_type": "smollm3", "hidden_size": ours["d_model"],
        "intermediate_size": ours["dim_feedforward"], "num_attention_heads": ours["nhead"],
        "num_key_value_heads": ours["num_key_value_heads"], "num_hidden_layers": ours["num_layers"],
        "no_rope_layers": [int(layer in ours["rope_layers"]) for layer in range(ours["num_layers"])],
        "hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": False, "vocab_size": ours["vocab_size"],
        "max_position_embeddings": 64, "rope_parameters": {"rope_theta": ours["rope_theta"], "rope_type": "default"},
        "transformers_version": "5.0.0",
    }
    (folder / "config.json").write_text(json.dumps(theirs, indent=2) + "\n")
    tensors = read(folder / "model.safetensors")
    write(folder / "model.safetensors", {their_name(name): tensor for name, tensor in tensors.items()})


{"sinks": sinks, "router": router, "as-transformers": as_transformers}[sys.argv[1]](pathlib.Path(sys.argv[2]))
