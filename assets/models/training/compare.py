"""The program's trace of a bundled model's example beside PyTorch's: python3 compare.py PROGRAM NAME ..."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402

import safetensors_file  # noqa: E402
from training.characters import Vocabulary, padded  # noqa: E402
from training.files import load_weights  # noqa: E402
from training.network import forward  # noqa: E402

MODELS = Path(__file__).resolve().parents[1]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def texts_as_inputs(path, texts):
    vocabulary = Vocabulary.from_json(read(path))
    return padded([vocabulary.encode(text) for text in texts], 0)


def example_inputs(folder):
    example, inputs = read(folder / "example.json"), {}
    inputs["tokens"], inputs["attention_mask"] = texts_as_inputs(folder / "vocabulary.json", example["target"])
    if "source" in example:
        own = folder / "encoder_vocabulary.json"
        path = own if own.exists() else folder / "vocabulary.json"
        inputs["encoder_tokens"], inputs["encoder_attention_mask"] = texts_as_inputs(path, example["source"])
    return inputs


def traced(program, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.safetensors"
        subprocess.run([program, "trace", name, "--out", path], check=True)
        return {tensor: torch.from_numpy(array) for tensor, array in safetensors_file.load(path).items()}


def main(program, names):
    for name in names:
        with torch.no_grad():
            ours = forward(read(MODELS / name / "config.json"), load_weights(MODELS / name),
                           example_inputs(MODELS / name))
        theirs = traced(program, name)
        assert ours.keys() == theirs.keys()
        largest = (ours["logits"] - theirs["logits"]).abs().max()
        print(f"{name}: {len(ours)} tensors; the logits reach {ours['logits'].abs().max():.1f} and differ by at most "
              f"{largest:.1e}")


main(sys.argv[1], sys.argv[2:])
