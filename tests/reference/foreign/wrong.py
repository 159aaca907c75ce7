"""Files that are wrong on purpose: the program must refuse each with one sentence that names what is wrong.

    /usr/bin/python3 wrong.py PROGRAM

A case takes a model of models/, changes its configuration, its tensors or the file it is in, and says which words the
sentence must have: the key, or the tensor by their name or ours. Nothing may be written.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402

import safetensors_file  # noqa: E402

MODELS = HERE / "models"


@dataclass
class Wrong:
    what: str
    model: str
    names: tuple  # words that the sentence must have; "theirs|ours" is either
    config: dict = field(default_factory=dict)  # keys of config.json to change; None takes the key away
    config_of: str = ""  # another model's config.json instead
    change: object = None  # tensors -> tensors
    sets: tuple = ()


def without(name):
    return lambda tensors: {key: value for key, value in tensors.items() if key != name}


def turned(name):
    return lambda tensors: {key: value.T if key == name else value for key, value in tensors.items()}


def added(name, *shape):
    return lambda tensors: {**tensors, name: np.ones(shape, np.float32)}


CASES = [
    # A family's configuration with another's weights.
    Wrong("Gemma 2's configuration, Gemma's weights", "gemma", ("pre_feedforward_layernorm|norm1_post|norm2",),
          config_of="gemma2"),
    Wrong("Gemma's configuration, Gemma 2's weights", "gemma2", ("feedforward_layernorm|norm",), config_of="gemma"),
    Wrong("Llama's configuration, Qwen 2's biases", "qwen2", ("_proj.bias",), config_of="llama"),
    Wrong("Llama's configuration, OLMo 2's weights", "olmo2", ("layernorm|norm1",), config_of="llama"),
    Wrong("Qwen 3's configuration, Llama's weights", "llama", ("layers.0.self_attn",), config_of="qwen3"),
    Wrong("GPT-2's configuration, OPT's weights", "opt", (), config_of="gpt2"),
    Wrong("GPT-J's configuration, Phi's weights", "phi", (), config_of="gptj"),
    Wrong("BART's configuration, Marian's weights", "marian", ("embed",), config_of="bart"),
    Wrong("T5's configuration, T5 1.1's weights", "t5-v1.1", ("wi|up_proj",), config_of="t5"),
    # A key that contradicts a shape.
    Wrong("a head of another width", "qwen3", ("q_proj.weight",), {"head_dim": 4}),
    Wrong("more key and value heads", "llama", ("k_proj.weight",), {"num_key_value_heads": 4}),
    Wrong("another width of the MLP", "mistral", ("mlp|_proj.weight",), {"intermediate_size": 20}),
    Wrong("another vocabulary", "gpt2", ("wte.weight|embed.weight",), {"vocab_size": 30}),
    Wrong("more blocks", "phi", ("layers.2",), {"num_hidden_layers": 3}),
    Wrong("fewer blocks", "phi", ("layers.1",), {"num_hidden_layers": 1}),
    Wrong("more positions than rows", "opt", ("embed_positions.weight|pos_embed.weight",),
          {"max_position_embeddings": 22}),
    Wrong("another width of the stream", "gptj", ("weight",), {"n_embd": 12}),
    # Keys that change the numbers and aren't computed.
    Wrong("another scaling of RoPE", "llama", ("rope_scaling",),
          {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 16}}),
    Wrong("Granite's key in Llama's configuration", "llama", ("residual_multiplier",), {"residual_multiplier": 0.5}),
    Wrong("a key of no family", "qwen2", ("logit_temperature",), {"logit_temperature": 2.0}),
    Wrong("an activation that isn't computed", "gpt2", ("activation_function",), {"activation_function": "quick_gelu"}),
    Wrong("norms of q and k in Phi", "phi", ("qk_layernorm",), {"qk_layernorm": True}),
    Wrong("BLOOM's residual behind the norm", "bloom", ("apply_residual_connection_post_layernorm",),
          {"apply_residual_connection_post_layernorm": True}),
    Wrong("OPT's embedding of another width", "opt", ("word_embed_proj_dim",), {"word_embed_proj_dim": 8}),
    Wrong("a bias of the projections that the file hasn't", "llama", ("bias",), {"attention_bias": True}),
    Wrong("a family that isn't read", "llama", ("model_type", "mamba"), {"model_type": "mamba"}),
    # Tensors.
    Wrong("a tensor is missing", "gemma2", ("up_proj.weight",), change=without("model.layers.1.mlp.up_proj.weight")),
    Wrong("a tensor too many", "llama", ("model.layers.0.self_attn.rotary_mystery.weight",),
          change=added("model.layers.0.self_attn.rotary_mystery.weight", 4, 4)),
    Wrong("a matrix is turned", "phi", ("fc1.weight|up_proj.weight",), change=turned("model.layers.0.mlp.fc1.weight")),
    Wrong("a fused matrix of two thirds", "pythia", ("query_key_value|q_proj",), change=lambda tensors: {
        key: value[:32] if key == "gpt_neox.layers.0.attention.query_key_value.weight" else value for key,
        value in tensors.items()}),
    Wrong("a head whose matrices are missing", "ng-video-lecture", ("blocks.0.sa.heads.1|k_proj",),
          change=without("blocks.0.sa.heads.1.key.weight")),
    Wrong("a bias of another length", "gptj", ("lm_head.bias",), change=lambda tensors: {
        key: value[:-1] if key == "lm_head.bias" else value for key, value in tensors.items()}),
    Wrong("a number of heads that doesn't divide the width", "mingpt", ("nhead",), sets=("--set", "nhead=3")),
]


def refusals():
    """What each model's about.json says of keys that aren't computed."""
    for folder in sorted(MODELS.iterdir()):
        about = json.loads((folder / "about.json").read_text())
        for key, entry in about.get("refuses", {}).items():
            yield Wrong(f"{about['title']}: {entry['because']}", folder.name, (key,), {key: entry["value"]})


def write(case, folder):
    source = MODELS / case.model
    for file in source.iterdir():
        if file.name not in ("about.json", "expected.safetensors"):
            (folder / file.name).write_bytes(file.read_bytes())
    if case.config_of:
        (folder / "config.json").write_bytes((MODELS / case.config_of / "config.json").read_bytes())
    if case.config:
        config = json.loads((folder / "config.json").read_text())
        config.update(case.config)
        (folder / "config.json").write_text(json.dumps(config))
    if case.change is not None:
        path = folder / "model.safetensors"
        safetensors_file.save(path, case.change(safetensors_file.load(path)))


def complaint(program, case):
    """What is wrong with the program's answer; None if it is as it should be."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, out = pathlib.Path(scratch) / "model", pathlib.Path(scratch) / "trace.safetensors"
        folder.mkdir()
        write(case, folder)
        result = subprocess.run([program, "trace", str(folder), "--inputs", str(folder / "inputs.safetensors"), "--out",
                                 str(out),
                                 *case.sets], capture_output=True, text=True, timeout=60)
        said = result.stderr.replace(str(folder) + "/", "").strip()
        lines = [line for line in said.splitlines() if not line.startswith("decoderscope: assumed")]
        if result.returncode == 0:
            return "opened", said
        if result.returncode != 1 or out.exists():
            return f"exit {result.returncode}" + (", and a file was written" if out.exists() else ""), said
        missing = [words for words in case.names if not any(word in said for word in words.split("|"))]
        if missing:
            return f"doesn't name {', '.join(missing)}", said
        return (None, said) if len(lines) == 1 else ("more than a sentence", said)


def main():
    program, failed, cases = sys.argv[1], 0, CASES + list(refusals())
    for case in cases:
        wrong, said = complaint(program, case)
        failed += wrong is not None
        print(f"{'ok' if wrong is None else 'WRONG: ' + wrong}: {case.what} ({case.model}): {said}")
    print(f"{len(cases) - failed} of {len(cases)} as they should be")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
