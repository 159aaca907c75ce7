"""What the program says of each model in models/: compares the logits that it computes with the module's.

    /usr/bin/python3 run_program.py PROGRAM [--ours] [--json FILE] [--page FILE] [NAME …]

Each is opened as a person would: the folder, with the answers to what is asked (`asks`) as --set. If that isn't right,
it is opened once more with the assumed settings (`assumes`). With --ours, a folder with `our_config` and the
mapped weights is opened instead: this tells what the program can't compute from what it doesn't recognise.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import numpy as np  # noqa: E402

import page  # noqa: E402
import safetensors_file  # noqa: E402

MODELS = HERE / "models"
TOLERANCE = 1e-5


def settings(answers):
    found = []
    for key, entry in answers.items():
        value = entry["answer"]
        found += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return found


def as_ours(folder, about, to):
    """Writes the model as the contract has it."""
    from mapping import our_weights, with_zero_biases  # needs torch
    from stored import expanded

    stored = {}
    for file in sorted(folder.glob("model*.safetensors")):
        stored.update(safetensors_file.load(file))
    if about.get("format") == "BF16":
        stored = {name: (value.astype(np.uint32) << 16).view(np.float32) for name, value in stored.items()}
    stored = expanded(stored)
    weights = our_weights(stored, about["map"], about["our_config"], about.get("made"))
    weights = with_zero_biases(weights, about["our_config"])
    to.mkdir()
    (to / "config.json").write_text(json.dumps(about["our_config"]))
    safetensors_file.save(to / "model.safetensors", weights)
    return to


def run(program, folder, sets, ours=None):
    """(the trace, what was said on standard error); `ours` is about.json where the model is opened as the contract's."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "trace.safetensors"
        model = folder if ours is None else as_ours(folder, ours, pathlib.Path(scratch) / "model")
        inputs = ["--inputs", str(folder / "inputs.safetensors")]
        result = subprocess.run([program, "trace", str(model), *inputs, "--out", str(out), *sets], capture_output=True,
                                text=True, timeout=120)
        said = result.stderr.strip().replace(str(model) + "/", "")
        return (safetensors_file.load(out) if result.returncode == 0 else None), said


def difference(trace, expected):
    """The first tensor that differs by more than the tolerance, and the logits' difference relative to their scale."""
    def relative(name):
        ours, theirs = trace.get(name), expected[name]
        if ours is None or ours.shape != theirs.shape:
            return np.inf
        return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30))

    first = next((name for name in expected if relative(name) > TOLERANCE), None)
    return first, relative("logits")


def verdict(program, folder, ours=False):
    about = json.loads((folder / "about.json").read_text())
    expected = safetensors_file.load(folder / "expected.safetensors")
    # Their modules count every place; it is Hugging Face's generate that counts by the mask.
    counted = ["--set", "positions=plain"] if (folder / "config.json").exists() and not ours else []
    tried = [("as ours", [])] if ours else [("as it is", counted + settings(about.get("asks", {})))]
    if about.get("assumes") and not ours:
        tried.append(("with its assumed settings", tried[0][1] + settings(about["assumes"])))
    said = []
    for words, sets in tried:
        trace, error = run(program, folder, sets, about if ours else None)
        error = error.removeprefix("decoderscope: ")
        if trace is None:
            said.append({"how": words, "result": "refused", "sentence": error.splitlines()[-1] if error else ""})
            continue
        first, logits = difference(trace, expected)
        if first is None:
            said.append({"how": words, "result": "right", "logits": logits, "noted": error})
            break
        said.append({"how": words, "result": "wrong" if logits > TOLERANCE else "right logits", "first": first,
                     "logits": logits, "noted": error})
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--page")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    verdicts = {}
    for folder in sorted(MODELS.iterdir()):
        if options.names and folder.name not in options.names:
            continue
        verdicts[folder.name] = verdict(options.program, folder, options.ours)
        for said in verdicts[folder.name]:
            detail = said.get("sentence") or f"logits off by {said['logits']:.1e}" + (
                f", first {said['first']}" if "first" in said else "")
            print(f"{folder.name:28} {said['how']:22} {said['result']:13} {detail}")
    if options.page:
        models = [folder for folder in sorted(MODELS.iterdir()) if folder.name in verdicts]
        pathlib.Path(options.page).write_text(page.page(models, verdicts))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    main()
