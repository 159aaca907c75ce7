"""Writes traces/: small dumps as other programs leave them, for tests/engine/test_trace.cpp.

Run with numpy:  /usr/bin/python3 tests/reference/make_traces.py

The files follow the formats' own sources: numpy.savez; polygraphy/json/serde.py and comparator/struct.py (arrays as base64 of
.npy); transformers/model_debugging_utils.py with use_repr=False (a tree of calls, each tensor in a safetensors file).
"""
import base64
import io
import json
import pathlib
import zipfile

import numpy as np

import safetensors_file

FOLDER = pathlib.Path(__file__).parent / "traces"


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def write_npz(path, arrays, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            with file.open(info, "w", force_zip64=True) as entry:  # as numpy.savez does
                entry.write(npy(array))


def main():
    FOLDER.mkdir(exist_ok=True)
    cache = {"hook_embed": np.arange(6, dtype="<f4").reshape(1, 2, 3),
             "blocks.0.hook_resid_pre": np.array([[1.5, -0.5]], dtype="<f2"), "steps": np.array([12], dtype="<i8")}
    write_npz(FOLDER / "cache.npz", cache)
    write_npz(FOLDER / "compressed.npz", cache, zipfile.ZIP_DEFLATED)
    write_npz(FOLDER / "objects.npz", {"objects": np.array([{"a": 1}], dtype=object)})

    def lazy(array):
        return {"values": {"array": base64.b64encode(npy(array)).decode(), "polygraphy_class": "ndarray"},
                "polygraphy_class": "LazyArray"}

    outputs = {"logits": lazy(np.array([[1, 2], [3, 4.5]], dtype="<f4")), "hidden": lazy(np.zeros((1, 3), dtype="<f4"))}
    result = {"outputs": outputs, "runtime": 0.001, "runner_name": "onnxrt-runner", "polygraphy_class": "IterationResult"}
    results = {"lst": [["onnxrt-runner", [result]]], "polygraphy_class": "RunResults"}
    (FOLDER / "polygraphy.json").write_text(json.dumps(results, indent=1) + "\n")

    def stored(name, array):
        safetensors_file.save(FOLDER / (name + ".safetensors"), {"data": array})
        return {"shape": "torch.Size(%s)" % list(array.shape), "dtype": "torch.float32", "value": "./%s.safetensors" % name}

    x = np.array([[[1, 2, 3]]], dtype="<f4")
    leaf = {"module_path": "Small.layers.0.q_proj", "inputs": {"args": [stored("Small.layers.0.q_proj_inputs_args_0", x)]},
            "outputs": stored("Small.layers.0.q_proj_outputs", x)}
    printed = {"shape": "torch.Size([1])", "dtype": "torch.float32", "value": ["tensor([1.0000e+00])"]}
    block = {"module_path": "Small.layers.0", "inputs": {"args": [printed]}, "children": [leaf]}
    tree = {"module_path": "Small", "inputs": {"args": [], "kwargs": {}}, "children": [block]}
    (FOLDER / "Small_debug_tree_FULL_TENSORS.json").write_text(json.dumps(tree, indent=1) + "\n")


if __name__ == "__main__":
    main()
