"""Writes models/: small decoders as other projects save them, with inputs, logits and recorded tensors.

    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 make.py [NAME …]

Before a model is written, the reference decoder (../decoder.py) is run with `our_config` and the mapped weights; every
tensor recorded by the module must agree. README.md says what the files mean.
"""

import importlib
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

from check import compare  # noqa: E402

MODELS = HERE / "models"


def all_cases():
    cases = []
    for folder in ("families", "tutorials"):
        for file in sorted((HERE / folder).glob("*.py")):
            made = getattr(importlib.import_module(f"{folder}.{file.stem}"), "cases", None)
            cases += made() if made is not None else []
    return cases


def main(wanted):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    failed = False
    for case in all_cases():
        if wanted and case.name not in wanted:
            continue
        verdict, right = compare(case)
        failed = failed or not right
        print(f"{case.name:28} {verdict}")
        folder = MODELS / case.name
        if folder.exists():
            shutil.rmtree(folder)
        case.write(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
