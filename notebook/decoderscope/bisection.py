"""Where one decoder first differs from another, as a result that a script or a test can ask."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from .overlay import Problem
from .recording import Recording, line_text, record

if TYPE_CHECKING:
    import torch

    Names = Union[str, list[str]]
    Decoder = Union["torch.nn.Module", Recording, str, os.PathLike[str]]

# As `decoderscope bisect` ends.
_AGREES, _DIFFERS, _REFUSED, _IN_PART = 0, 1, 2, 3


class Result:
    """What a bisection found. It is true, and ok, if nothing differs and all that leads to the output was compared.

    status    as `decoderscope bisect` ends: 0 ok, 1 it differs, 2 a recording isn't whole, because the program raised, say,
              3 what was compared agrees, but not all was; the text says what
    first     the first tensor of `mine` that differs, by its recorded name; None if none does
    step      what that tensor is in the reference: "blocks.0.attn.masked_scores"; the same name if only names were compared
    cell      the indices of its worst cell
    line      the line of code that it comes from: "model.py:57: att = F.softmax(att, dim=2)"; empty if it isn't known
    causes    the mistakes that explain it, a sentence each, the likeliest first; none may be known
    reached   how much of what was compared agrees before it, from 0 to 1
    text      all of it, as `decoderscope bisect` prints it
    """

    def __init__(self, first: Optional[str], step: Optional[str], cell: list[int], line: str, causes: list[str], text: str,
                 reached: float = 1.0, status: Optional[int] = None):
        self.status = status if status is not None else _AGREES if first is None else _DIFFERS
        self.ok, self.reached = self.status == _AGREES, reached
        self.first, self.step, self.cell, self.line, self.causes, self.text = first, step, cell, line, causes, text

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return self.text.rstrip("\n")


def bisect(mine: Decoder, reference: Decoder, *inputs: Any, tolerance: Optional[float] = None,
           settings: Optional[Mapping[str, str]] = None, names: Optional[Mapping[str, Names]] = None, **arguments: Any) -> Result:
    """Finds where `mine` first differs from `reference` on the same inputs, and why.

    mine, reference   each a torch.nn.Module, a Recording, or the path of a recording
    tolerance         relative to a tensor's largest magnitude; without it, what rounding leaves open
    settings          what the reference's recording doesn't show: {"causal": "false"}
    names             which parameters are which, if that isn't recognised, as `--map` of the program takes them; "" leaves one
                      out: {"final.weight": "norm.weight", "segments.weight": ""}

    Other arguments are record()'s and the models'. The desktop program computes the reference again from the parameters that
    were recorded. Where it isn't installed, or doesn't know the reference's architecture, tensors of the same name are
    compared, and no cause is sought; the text says so.

    >>> import torch, decoderscope as ds
    >>> found = ds.bisect(torch.nn.Softmax(dim=0), torch.nn.Softmax(dim=-1), torch.zeros(1, 2))
    >>> bool(found), found.first, found.cell
    (False, '(model)/out', [0, 0])
    """
    ours, theirs = (recording_of(which, inputs, arguments) for which in (mine, reference))
    program = shutil.which("decoderscope")
    if program is None:
        return by_name(ours, theirs, tolerance, "the desktop program isn't installed")
    found, why = _bisected(program, ours, theirs, tolerance, {**seen_settings(theirs), **(settings or {})}, names or {})
    return by_name(ours, theirs, tolerance, why) if found is None else _result(found)


def assert_same(mine: Decoder, reference: Decoder, *inputs: Any, **arguments: Any) -> None:
    """As bisect(); raises AssertionError with its text if something differs, or was not compared.

    >>> import torch, decoderscope as ds
    >>> ds.assert_same(torch.nn.Softmax(dim=-1), torch.nn.Softmax(dim=1), torch.zeros(1, 2))
    """
    result = bisect(mine, reference, *inputs, **arguments)
    if not result:
        raise AssertionError(result.text)


def _sees_ahead(pattern: torch.Tensor) -> bool:
    """A row that has the same weight everywhere is padding's, which sees nothing."""
    told = pattern.amax(-1) - pattern.amin(-1) > 1e-6
    return bool(pattern.triu(1)[told].abs().max() > 0) if told.any() else False


def seen_settings(reference: Recording) -> dict[str, str]:
    """What the recording of a right model shows, and its parameters don't: whether a position sees those after it."""
    squares = [name for name, shape in reference.patterns().items() if shape[-2] == shape[-1] > 1]
    sees_ahead = [_sees_ahead(reference[name]) for name in squares]
    return {"causal": "false"} if sees_ahead and all(sees_ahead) else {}


def by_name(mine: Recording, reference: Recording, tolerance: Optional[float], why: str) -> Result:
    """Compares tensors of one name, in the order of recording. What only one of the two has is not compared."""
    tolerance = 1e-5 if tolerance is None else tolerance
    agreed, said = 0, f"Only tensors of the same name are compared: {why}.\n"
    both = [(name, same) for name in mine if not name.startswith("param/") and (same := reference.stored_name(name))]
    for name, same in both:
        ours, theirs = mine[name], reference[same]
        apart = apart_at(ours, theirs, tolerance)
        if apart is None:
            agreed += 1
            continue
        line = mine.line_of(name)
        where = "" if apart.cell is None else f"{apart.cell}: "
        text = f"First difference: {name}: {where}{apart.numbers}. {agreed} tensors before it agree.\n{line}\n"
        return Result(name, name, apart.cell or [], line, [], said + text, agreed / len(both))
    if agreed == 0:
        raise Problem("bisect: the two have no tensor of the same name; " + why)
    ended = next((run.metadata["finished"] for run in (mine, reference) if run.metadata.get("finished", "yes") != "yes"), None)
    if ended is not None:
        said = f"Not whole: the recorded program ended with {ended}.\n" + said
    compared = {name for name, _ in both}
    missing = next((name for name in mine.outputs() if name not in compared), None)
    if missing is not None:
        said += f"Not compared: {missing}, the output; the other recording has none of that name.\n"
    return Result(None, None, [], "", [], said + f"{agreed} tensors agree.\n",
                  status=_REFUSED if ended is not None else _AGREES if missing is None else _IN_PART)


class Apart(NamedTuple):
    """The worst cell of two tensors that differ, None if their shapes do; and "0.92, expected 0.05", of the shapes likewise."""

    cell: Optional[list[int]]
    numbers: str


def apart_at(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> Optional[Apart]:
    """Where two tensors differ; None if they don't, or by no more than rounding."""
    if ours.shape != theirs.shape:
        return Apart(None, f"{list(ours.shape)}, expected {list(theirs.shape)}")
    cell = worst_cell(ours, theirs, tolerance)
    if cell is None:
        return None
    return Apart(cell, f"{float(ours[tuple(cell)]):.4g}, expected {float(theirs[tuple(cell)]):.4g}")


def worst_cell(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> Optional[list[int]]:
    """Where two tensors of one shape differ most; None if by no more than rounding. NaN and infinities equal themselves."""
    apart = (ours.double() - theirs.double()).abs().nan_to_num(nan=float("inf"))
    apart[(ours == theirs) | ((ours != ours) & (theirs != theirs))] = 0.0
    finite = theirs.double().abs()[theirs.isfinite()]
    magnitude = float(finite.max()) if finite.numel() else 0.0
    if apart.numel() == 0 or float(apart.max()) <= tolerance * magnitude:
        return None
    flat, cell = int(apart.argmax()), list[int]()
    for size in reversed(apart.shape):
        flat, index = divmod(flat, size)
        cell.insert(0, index)
    return cell


def recording_of(which: Decoder, inputs: tuple[Any, ...], arguments: dict[str, Any]) -> Recording:
    """Itself, what a file holds, or what a model computes."""
    if isinstance(which, Recording):
        return which
    if isinstance(which, (str, os.PathLike)):
        return Recording.of_file(os.fspath(which))
    return record(which, *inputs, **arguments)


def _bisected(program: str, mine: Recording, reference: Recording, tolerance: Optional[float],
              settings: Mapping[str, str], names: Mapping[str, Names]) -> tuple[Optional[dict[str, Any]], str]:
    """The program's JSON; or None, and why there is none."""
    command = ["bisect", "reference.safetensors", "--against", "mine.safetensors", "--json"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    files = {"mine.safetensors": mine.data, "reference.safetensors": reference.data}
    if names:
        command += ["--map", "names.json"]
        files["names.json"] = json.dumps(dict(names)).encode()
    done = run_on(program, files, command, tolerance)
    if done.stdout.startswith("{"):
        return {**json.loads(done.stdout), "status": done.returncode}, ""
    said = done.stderr.strip().splitlines()
    return None, said[0] if said else f"the desktop program ended with {done.returncode}"


def run_on(program: str, files: Mapping[str, bytes], command: list[str], tolerance: Optional[float],
           seconds: Optional[float] = None) -> subprocess.CompletedProcess[str]:
    """Runs a command of the desktop program beside these files."""
    if tolerance is not None:
        command = [*command, "--tolerance", str(tolerance)]
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (pathlib.Path(folder) / name).write_bytes(data)
        return subprocess.run([program, *command], cwd=folder, capture_output=True, text=True, timeout=seconds)


def _result(found: dict[str, Any]) -> Result:
    causes = [f"{cause['name']}: {cause['cause']}" for cause in found.get("causes", []) if cause["explains"]]
    reached = found["agreed_before"] / max(1, len(found["matches"]))
    return Result(found["theirs"], found["first"], found["cell"], line_text(found.get("line")), causes, found["text"], reached, found["status"])
