"""Rows of one's own: formulas of what was recorded, in the language of docs/formulas.md."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from .overlay import Problem
from .recording import Recording, record

if TYPE_CHECKING:
    import torch


def rows(what: Union["torch.nn.Module", Recording], formulas: Mapping[str, str], *inputs: Any, **arguments: Any) -> Recording:
    """The numbers of rows, computed from a forward pass as the program computes them.

    what       a Recording, or a model, which is recorded on the inputs
    formulas   by name: {"h.0.attn.spread": "spread[b, h, q] = max_k softmax.out[b, h, q, k]", "most": "lm_head.out.max()"}.
               A row belongs to the module that its name begins with, and a "/" in a tensor's name is a dot

    The result has the rows by their names. Problem says what is wrong with a formula, and where. Needs the desktop program.

    >>> import torch, decoderscope as ds
    >>> found = ds.rows(torch.nn.Softmax(dim=-1), {"sums": "model.out.sum(-1)"}, torch.zeros(1, 2))
    >>> found["sums"]
    tensor([1.])
    """
    recording = what if isinstance(what, Recording) else record(what, *inputs, **arguments)
    program = shutil.which("decoderscope")
    if program is None:
        raise Problem("rows: expected the desktop program, decoderscope, on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        session, made = pathlib.Path(folder) / "rows.dscope", pathlib.Path(folder) / "made.safetensors"
        (pathlib.Path(folder) / recording.name).write_bytes(recording.data)
        session.write_text(json.dumps({"format": "decoderscope-session", "version": 1,
                                       "model": {"path": recording.name, "trace": True}, "edits": edits_of(formulas)}))
        done = subprocess.run([program, "trace", str(session), "--out", str(made)], capture_output=True, text=True)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"the program ended with {done.returncode}"
            raise Problem("rows: " + said.rpartition("rows.dscope: ")[2].removeprefix("edits: "))
        return Recording(made.read_bytes(), "rows.safetensors")


def edits_of(formulas: Mapping[str, str]) -> list[dict[str, str]]:
    """The rows as a session's edits."""
    edits = []
    for name, formula in formulas.items():
        part, _, own = name.rpartition(".")
        edits.append({"edit": "row", "name": own, "formula": formula, **({"of": part} if part else {})})
    return edits
