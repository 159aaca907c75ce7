"""What a test says when a decoder computes something else: where, by how much, why, and on which line.

    from decoderscope.testing import same_decoder, same_tensor

    def test_softmax():
        x = torch.randn(4, 8)
        same_tensor(lambda: softmax(x, dim=-1), "snapshots/softmax.npz", of="softmax(x, -1)", x=x)

    def test_decoder():
        same_decoder(mine, reference, tokens)

Both raise Different, an AssertionError. decoderscope.plugin makes pages, points and Markdown of it for pytest.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from .bisection import Apart, Result, apart_at, bisect, by_name, recording_of, run_on
from .overlay import Problem
from .recording import Recording, line_text, record

if TYPE_CHECKING:
    import torch

    Snapshot = Union[torch.Tensor, str, os.PathLike[str], Any]

_SNAPSHOTS = (".npz", ".npy", ".pt")
_OUTPUT = "(model)/out"


class Different(AssertionError):
    """What is not the same. Its text says it all.

    first      the step or the formula that is computed differently
    line       the line of code that it comes from: "model.py:57: att = F.softmax(att, dim=2)"; empty if it isn't known
    causes     the mistakes that explain it, a sentence each; none may be known
    reached    how much of the steps agrees before it, from 0 to 1
    recording  what was computed; None if it wasn't recorded
    """

    def __init__(self, text: str, first: str, line: str, causes: list[str], reached: float, recording: Optional[Recording]):
        super().__init__(text)
        self.first, self.line, self.causes, self.reached, self.recording = first, line, causes, reached, recording


def same_decoder(model: Any, reference: Any, *inputs: Any, tolerance: Optional[float] = None,
                 settings: Optional[Mapping[str, str]] = None, **arguments: Any) -> None:
    """Raises Different if `model` computes something else than `reference` on the same inputs.

    model       a torch.nn.Module, a Recording, or the path of one
    reference   the same; or a snapshot: an .npz, .npy or .pt file of what a right model computed. One array is the output;
                of several each has the name of a recorded tensor

    The rest is as for decoderscope.bisect().

    >>> import torch
    >>> same_decoder(torch.nn.Softmax(dim=-1), torch.nn.Softmax(dim=1), torch.zeros(1, 2))
    """
    mine = recording_of(model, inputs, arguments)
    if isinstance(reference, (str, os.PathLike)) and pathlib.Path(reference).suffix in _SNAPSHOTS:
        theirs = Recording.of_tensors(_named_as(mine, read_snapshot(reference)), os.path.basename(reference))
        found = by_name(mine, theirs, tolerance, f"{theirs.name} is a snapshot")
    else:
        found = bisect(mine, reference, *inputs, tolerance=tolerance, settings=settings, **arguments)
    if not found:
        raise _different(found, mine)


def same_tensor(got: Union[torch.Tensor, Callable[[], Any], Any], expected: Optional[Snapshot] = None, *,
                of: Optional[str] = None, mistakes: Optional[Mapping[str, str]] = None, tolerance: Optional[float] = None,
                **operands: Any) -> None:
    """Raises Different if `got` is not what is expected.

    got        a tensor, an array, or a function without arguments that computes it: of a function the lines are known
    expected   a tensor, an array, or a snapshot: an .npz, .npy or .pt file of one array. Without it, what the formula gives
    of         what it should be, as a formula of the operands, in index notation or as in PyTorch:
               "softmax(q @ k.mT / sqrt(d_head), -1)". If it isn't, the formulas near to it are tried
    mistakes   other formulas to be tried, by a sentence that says what they do: {"It subtracts the mean.": "…"}
    tolerance  relative to the largest magnitude; without it 1e-5, and four units of the last place in types with fewer digits
    operands   the formula's tensors, and its numbers: x=x, eps=1e-5

    >>> import torch
    >>> x = torch.tensor([[1.0, 2.0, 3.0]])
    >>> same_tensor(x.mean(-1), torch.tensor([2.0]))
    >>> same_tensor(x.sum(-1), torch.tensor([2.0]))
    Traceback (most recent call last):
    decoderscope.testing.Different: Worst cell [0]: 6, expected 2.
    No formula is given (of=…): no cause is sought.
    """
    if expected is None and of is None:
        raise Problem("same_tensor: expected a tensor or a snapshot, or of=…, the formula that it should be")
    recording = record(_called(got), functions="all") if callable(got) else None
    ours = _tensor("got", got if recording is None else recording[_OUTPUT])
    tolerance = _tolerance_of(ours) if tolerance is None else tolerance
    where = "expected"
    wrong: Optional[Apart] = None
    if expected is not None:
        if isinstance(expected, (str, os.PathLike)):
            where = os.fspath(expected)
            expected = _only_one(where, read_snapshot(expected))
        wrong = apart_at(ours, _tensor("expected", expected), tolerance)
        if wrong is None:
            return
    found, why = (None, "No formula is given (of=…): no cause is sought.") if of is None else _checked(ours, recording, of, mistakes, tolerance, operands)
    if found is None and expected is None:
        raise Problem(f"same_tensor: {why}")
    if found is not None and found["agrees"] and wrong is None:
        return
    raise _difference(of or where, where, wrong, found, why, recording)


def read_snapshot(path: Union[str, os.PathLike[str]]) -> dict[str, torch.Tensor]:
    """The arrays of an .npz, .npy or .pt file by name; one without a name has none. No code in the file is run.

    >>> read_snapshot("nowhere.npy")
    Traceback (most recent call last):
    decoderscope.overlay.Problem: nowhere.npy: there is no such snapshot
    """
    import torch

    path = pathlib.Path(path)
    if path.suffix == ".pt":
        try:
            held = torch.load(path, map_location="cpu", weights_only=True)
        except FileNotFoundError:
            raise Problem(f"{path}: there is no such snapshot") from None
        except TypeError:
            raise Problem(f"{path}: this PyTorch can't read it without running code in it; expected 1.13 or newer") from None
        except Exception as refused:  # whatever the unpickler meets
            raise Problem(f"{path}: expected a tensor, or tensors by name: {str(refused).splitlines()[0]}") from None
        held = held if isinstance(held, Mapping) else {"": held}
    else:
        import numpy

        try:
            array = numpy.load(path, allow_pickle=False)
            held = dict(array) if path.suffix == ".npz" else {"": array}
        except FileNotFoundError:
            raise Problem(f"{path}: there is no such snapshot") from None
        except (ValueError, OSError, EOFError) as refused:
            raise Problem(f"{path}: expected arrays of numbers: {str(refused).splitlines()[0]}") from None
    return {str(name): _tensor(f"{path}: {name}" if name else str(path), value) for name, value in held.items()}


def _tensor(name: str, value: Any) -> torch.Tensor:
    import torch

    if torch.is_tensor(value):
        value = value.detach().cpu()
        value = value if value.layout == torch.strided else value.to_dense()
        if value.is_complex():
            raise Problem(f"{name}: {value.dtype}, expected real numbers")
        return value
    try:
        import numpy

        return torch.from_numpy(numpy.array(value))
    except (TypeError, ValueError):
        raise Problem(f"{name}: {type(value).__name__}, expected a tensor or an array of numbers") from None


def _tolerance_of(got: torch.Tensor) -> float:
    import torch

    return max(1e-5, 4 * torch.finfo(got.dtype).eps) if got.is_floating_point() else 1e-5


def _only_one(path: str, arrays: Mapping[str, torch.Tensor]) -> torch.Tensor:
    if len(arrays) != 1:
        raise Problem(f"{path}: {len(arrays)} arrays, expected one: {', '.join(arrays)}")
    return next(iter(arrays.values()))


def _named_as(mine: Recording, arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A snapshot's arrays by the names of what was recorded: of one alone, the output's."""
    if len(arrays) == 1:
        return {mine.stored_name(_OUTPUT) or _OUTPUT: next(iter(arrays.values()))}
    return {mine.name_of(name): array for name, array in arrays.items()}


def _called(function: Callable[[], Any]) -> torch.nn.Module:
    import torch

    class Called(torch.nn.Module):
        def forward(self) -> torch.Tensor:
            return _tensor("got", function())

    return Called()


def _checked(ours: torch.Tensor, recording: Optional[Recording], of: str, mistakes: Optional[Mapping[str, str]],
             tolerance: float, operands: Mapping[str, Any]) -> tuple[Optional[dict[str, Any]], str]:
    """What the program says of the formula; or None, and why it says nothing."""
    program = shutil.which("decoderscope")
    if program is None:
        return None, "The desktop program isn't installed: no cause is sought."
    tensors, command = {"got": ours}, ["check", "mine.safetensors", "--json", "--formula", of]
    for name, value in operands.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            command += ["--number", f"{name}={value!r}"]
        else:
            tensors[name] = _tensor(name, value)
    for sentence, formula in (mistakes or {}).items():
        if not sentence or "=" in sentence:
            raise Problem(f"mistakes: “{sentence}”, expected a sentence without “=”")
        command += ["--mistake", f"{sentence}={formula}"]
    done = run_on(program, {"mine.safetensors": Recording.of_tensors(tensors, "mine.safetensors", recording).data}, command, tolerance)
    if done.stdout.startswith("{"):
        return json.loads(done.stdout), ""
    said = done.stderr.strip().splitlines()
    return None, said[0].removeprefix("decoderscope: ") if said else f"the desktop program ended with {done.returncode}"


def _difference(what: str, where: str, wrong: Optional[Apart], found: Optional[dict[str, Any]], why: str,
                recording: Optional[Recording]) -> Different:
    causes = [] if found is None else found["causes"]
    lines = [line_text(cause["line"]) for cause in causes]
    said = []
    if wrong is not None and (found is None or found["agrees"]):
        said.append(f"Its shape is {wrong.numbers}." if wrong.cell is None else f"Worst cell {wrong.cell}: {wrong.numbers}.")
    if found is None:
        said.append(why)
    elif found["agrees"]:
        said.append("The formula gives what was got: the formula or what is expected is wrong.\nFormula: " + what)
    else:
        said.append(found["text"].rstrip("\n"))
    if where != "expected":
        said.insert(0, f"Not what is in {where}.")
    return Different("\n".join(said), what, next((line for line in lines if line), ""), [cause["sentence"] for cause in causes],
                     0.0, recording)


def _different(found: Result, mine: Recording) -> Different:
    return Different(found.text.rstrip("\n"), found.step or "", found.line, found.causes, found.reached, mine)
