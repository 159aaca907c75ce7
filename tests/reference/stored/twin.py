"""Writes twin/: the Llama of models/llama before its numbers were packed, and how far each weight, step and prediction moves from
it to the GGUF file, by numpy and the reference decoder.

    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 twin.py
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "foreign"), str(HERE.parent)]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import decoder  # noqa: E402
import safetensors_file  # noqa: E402
from mapping import our_weights  # noqa: E402
from stored import gguf_models  # noqa: E402


def as_numpy(tensors):
    return {name: np.asarray(value.detach()) if torch.is_tensor(value) else np.asarray(value) for name,
            value in tensors.items()}


def move(before, after):
    distance = np.abs(before.astype(np.float64) - after)
    return {"largest": float(distance.max()), "mean": float(distance.mean()),
            "scale": float(max(np.abs(before).max(), np.abs(after).max()))}


def main():
    torch.set_num_threads(1)
    before, put = {}, gguf_models.Made.put

    def keeping(self, name, kind, parameter, *rows):
        before[id(parameter)] = parameter.detach().clone().numpy()
        put(self, name, kind, parameter, *rows)

    gguf_models.Made.put = keeping
    case = gguf_models.llama().case
    ids = {name: id(parameter) for name, parameter in case.module.named_parameters()}
    after = as_numpy(case.stored())
    original = {name: before[ids[name]] for name in after}
    weights = [our_weights(tensors, case.map, case.our_config, case.made) for tensors in (original, after)]
    runs = [as_numpy(decoder.run(case.our_config, each, case.inputs)) for each in weights]
    weights = [as_numpy(each) for each in weights]
    folder = HERE / "twin"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(case.our_config, indent=2) + "\n")
    safetensors_file.save(folder / "model.safetensors", weights[0])
    kept = case.inputs["attention_mask"].numpy() if "attention_mask" in case.inputs else np.ones((2, 7))
    predicted = [run["logits"].argmax(-1) for run in runs]
    logits = np.abs(runs[0]["logits"] - runs[1]["logits"])[kept == 1]
    found = {"weights": {name: move(weights[0][name], weights[1][name]) for name in weights[0]},
             "steps": {name: move(runs[0][name], runs[1][name]) for name in runs[0] if
                       np.isfinite(runs[0][name]).all()},
             "logits": float(logits.max()), "positions": int(kept.sum()),
             "changed": int((predicted[0] != predicted[1])[kept == 1].sum())}
    (folder / "moves.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
