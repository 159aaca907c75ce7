"""Writes models/ (small models as GGUF files hold them, with what their modules compute) and floats.safetensors.

    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 make.py

Before anything is written, what ggml_types.py expands is compared with ggml's own numbers (blocks.safetensors), the reference
decoder with each module, and each file, read again, with what was written.
"""

import json
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "foreign"), str(HERE.parent)]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import rng  # noqa: E402
import safetensors_file  # noqa: E402
from check import compare  # noqa: E402
from stored import fp8, ggml_types, gguf, gguf_models, mxfp4  # noqa: E402

MODELS = HERE / "models"


def check_blocks():
    goldens = safetensors_file.load(HERE / "blocks.safetensors")
    for kind in ggml_types.TYPES:
        if kind != "F32":
            values = goldens[kind + ".values"]
            assert np.array_equal(ggml_types.expand(kind, goldens[kind + ".blocks"].tobytes(), values.shape), values), kind


def floats():
    """What safetensors files hold: each byte of both kinds of FP8, a matrix with a scale for each block, and MXFP4."""
    matrix = rng.normals(6, "FP8", (130, 140)).astype(np.float32)
    matrix[128:] *= 40
    codes, scales = fp8.pack(matrix)
    rows = rng.normals(6, "MXFP4", (3, 64)).astype(np.float32) * np.array([[1], [1e-3], [300]], np.float32)
    blocks, powers = mxfp4.pack(rows)
    every = np.arange(256, dtype=np.uint8)
    return {"E4M3": every.view("i1"), "E4M3.values": fp8.E4M3, "E5M2": every.view("V1"), "E5M2.values": fp8.E5M2,
            "weight": codes.view("i1"), "weight_scale_inv": scales, "weight.values": fp8.expand(codes, scales),
            "mxfp4_blocks": blocks, "mxfp4_scales": powers, "mxfp4.values": mxfp4.expand(blocks, powers)}


def write(made):
    case, folder = made.case, MODELS / made.case.name
    folder.mkdir(parents=True)
    gguf.write(folder / "model.gguf", made.metadata, made.tensors)
    metadata, tensors = gguf.read(folder / "model.gguf")
    assert list(metadata) == list(made.metadata) and list(tensors) == list(made.tensors)
    assert all(np.array_equal(tensors[name], value) for name, (_, value) in made.tensors.items())
    safetensors_file.save(folder / "inputs.safetensors", {key: value.numpy() for key, value in case.inputs.items()})
    expected = {key: value.contiguous().numpy() for key, value in case.trace().items()}
    safetensors_file.save(folder / "expected.safetensors", expected)
    about = {"title": case.title, "our_config": case.our_config, "types": {name: kind for name, (kind, _) in
                                                                           made.tensors.items()}, "tokens": made.tokens}
    (folder / "about.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    torch.set_num_threads(1)
    check_blocks()
    safetensors_file.save(HERE / "floats.safetensors", floats())
    shutil.rmtree(MODELS, ignore_errors=True)
    for made in gguf_models.all_models():
        verdict, right = compare(made.case)
        print(f"{made.case.name:12} {verdict}")
        assert right
        write(made)


if __name__ == "__main__":
    main()
