"""The exercises in which a step of a decoder is written, with a function of one's own in place of a formula."""

from __future__ import annotations

import inspect
import json
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .overlay import Problem
from .recording import Recording, safetensors

if TYPE_CHECKING:
    import numpy


class Judgement:
    """What is said of a function. It is true if every number of it is right, on every text.

    right     the same
    mistake   what the gallery of bugs calls it: "softmax-over-queries"; empty if it has no name there
    replies   what the lesson says: of a wrong function the first wrong number beside the right one, then why, as far as it is known
    """

    def __init__(self, right: bool, mistake: str, replies: list[str]):
        self.right, self.mistake, self.replies = right, mistake, replies

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return "\n".join([*(["Right."] if self.right else []), *self.replies])


def write_it(step: str, function: Callable[..., Any], language: str = "") -> Judgement:
    """Judges a function that computes a step of a decoder, as the lessons "Write it yourself" judge a formula.

    step       the exercise: "softmax", or "write/softmax" with its lesson; `decoderscope lessons write softmax` says what is asked
    function   takes NumPy arrays by the names of its arguments, such as x, query, key, and numbers such as eps; returns the step
    language   of the replies: "zh_CN"

    The function is called once for each text of the exercise. The desktop program has the texts, the numbers and the judge.

    >>> write_it("scale", lambda query, key: query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5).right
    True
    >>> write_it("scale", lambda query, key: query @ key.swapaxes(-1, -2)).mistake
    'no-scale'
    """
    import numpy

    program = shutil.which("decoderscope")
    if program is None:
        raise Problem("write_it: expected the desktop program, decoderscope, on the PATH")
    command = [program, "lessons", "write", step, *(["--language", language] if language else [])]
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "given.safetensors", pathlib.Path(folder) / "made.safetensors"
        _run([*command, "--operands", str(given)])
        arrays = _read(given.read_bytes())
        numbers = {name.partition("/")[2]: float(array[0]) for name, array in arrays.items() if name.startswith("numbers/")}
        texts: dict[str, dict[str, Any]] = {}
        for name, array in arrays.items():
            text, _, operand = name.partition("/")
            if text != "numbers":
                texts.setdefault(text, dict(numbers))[operand] = array
        results = {text: numpy.asarray(function(**_chosen(function, names, set(numbers)))) for text, names in texts.items()}
        made.write_bytes(_written(results))
        found = json.loads(_run([*command, "--numbers", str(made), "--json"]))
    return Judgement(found["right"], found["mistake"], found["replies"])


def _chosen(function: Callable[..., Any], names: dict[str, Any], numbers: set[str]) -> dict[str, Any]:
    """What the function asks for, by the names of its arguments."""
    asked = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and (p.name in names or p.default is p.empty)]
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise Problem(f"write_it: the function asks for {', '.join(unknown)}; there are {', '.join(sorted(set(names) - numbers))}")
    return {name: names[name] for name in asked}


def _run(command: list[str]) -> str:
    """What the program prints; a wrong answer has a status of its own, and is printed, too."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and not done.stdout:
        raise Problem(done.stderr.strip())
    return done.stdout


def _read(data: bytes) -> dict[str, numpy.ndarray[Any, Any]]:
    """The arrays of a safetensors file of floats, by name."""
    import numpy

    file = Recording(data)
    return {name: numpy.frombuffer(file.data_of(name), "<f4").reshape(file.shape(name)) for name in file}


def _written(arrays: dict[str, numpy.ndarray[Any, Any]]) -> bytes:
    """A safetensors file of these arrays, as floats."""
    import numpy

    header, pieces, end = {}, [], 0
    for name, array in arrays.items():
        pieces.append(numpy.ascontiguousarray(array, "<f4").tobytes())
        header[name] = {"dtype": "F32", "shape": list(numpy.shape(array)), "data_offsets": [end, end + len(pieces[-1])]}
        end += len(pieces[-1])
    return safetensors(header, pieces)
