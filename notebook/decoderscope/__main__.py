"""python -m decoderscope watch model.py:Decoder --against reference.safetensors: bisects each time that a file is saved.
python -m decoderscope chat FOLDER messages.json --out laid.json: messages as a chat template lays them out.
python -m decoderscope lens MODEL --text FILE --out lens.safetensors: a lens fitted to a model, beside the logit lens.
python -m decoderscope grade FOLDER, scorm LESSON: for teachers; what a class handed in, a lesson for a learning platform."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from typing import Any, Optional

from . import grade, lens, scorm
from .bisection import bisect
from .chat import add_command as add_chat
from .overlay import Problem
from .recording import Recording, record, recorder_module

_SECONDS = 0.3  # between two looks at the files
_REFUSED = 2  # the status if nothing can be judged; the others are bisect's


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m decoderscope")
    commands = parser.add_subparsers(dest="command", required=True)
    watch = commands.add_parser("watch", help="bisect a model against a recording each time that a file beside it is saved")
    watch.add_argument("model", metavar="FILE.py:NAME", help="a class or a function that makes the model without arguments, or the model")
    watch.add_argument("--against", required=True, metavar="RECORDING",
                       help="of a right model; its inputs are given to the model, and its parameters as far as names and shapes fit")
    watch.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="what the recording doesn't show")
    watch.add_argument("--tolerance", type=float, help="relative to a tensor's largest magnitude")
    watch.add_argument("--window", action="store_true", help="also show it in the desktop program's window, which follows")
    watch.add_argument("--record", metavar="FILE", help="keep the model's recording in this file, the newest one")
    watch.add_argument("--once", action="store_true", help="bisect once; status 0 if all agrees, 1 if it differs, 2 if it can't be judged, 3 if not all was compared")
    add_chat(commands)
    grade.add_command(commands)
    scorm.add_command(commands)
    lens.add_command(commands)
    wanted = parser.parse_args()
    if wanted.command != "watch":
        return _done(wanted)
    try:
        if wanted.once:
            return _bisected(wanted)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that no folder stays
        with tempfile.TemporaryDirectory() as folder:
            window = None
            if wanted.window:
                wanted.record = os.path.abspath(wanted.record or os.path.join(folder, "mine.safetensors"))
                window = _Window(wanted, pathlib.Path(folder), pathlib.Path(wanted.record))
            _watch(pathlib.Path(wanted.model.rpartition(":")[0]).resolve().parent, wanted.record, window)
    except Problem as problem:
        print(f"decoderscope watch: {problem}", file=sys.stderr)
        return _REFUSED
    except KeyboardInterrupt:
        pass
    return 0


def _done(wanted: argparse.Namespace) -> int:
    """The work of a command that ends by itself; 1 if it fails."""
    try:
        status: int = wanted.work(wanted)
        return status
    except Problem as problem:
        print(f"decoderscope {wanted.command}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


class _Window:
    """The desktop program, on the reference: its tab Compare bisects against the model's recording, and follows that file."""

    def __init__(self, wanted: argparse.Namespace, folder: pathlib.Path, recorded: pathlib.Path):
        program = shutil.which("decoderscope")
        if program is None:
            raise Problem("--window: the desktop program isn't installed; expected decoderscope in the PATH")
        session = {"format": "decoderscope-session", "version": 1,
                   "model": {"path": str(pathlib.Path(wanted.against).resolve())}, "set": _settings(wanted), "tab": "diff",
                   "compare": {"with": "bisect", "file": str(recorded)}}
        self._session, self._program, self._recorded = folder / "watch.dscope", program, recorded
        self._session.write_text(json.dumps(session), encoding="utf-8")
        self._shown: Optional[subprocess.Popen[bytes]] = None

    def show(self) -> None:
        """As soon as there is a recording to compare with; once it is closed, it stays closed."""
        if self._shown is None and self._recorded.exists():
            self._shown = subprocess.Popen([self._program, str(self._session)])


def _watch(folder: pathlib.Path, record: Optional[str], window: Optional[_Window]) -> None:
    """Each run is a process of its own, so that it sees the files as they are now."""
    seen: Optional[dict[pathlib.Path, int]] = None
    while True:
        now = _times_of(folder)
        if now != seen:
            print(time.strftime("== %H:%M:%S"), flush=True)
            kept = ["--record", record] if record else []
            subprocess.run([sys.executable, "-m", "decoderscope", *sys.argv[1:], "--once", *kept])
            if window is not None:
                window.show()
            seen = now
        time.sleep(_SECONDS)


def _times_of(folder: pathlib.Path) -> dict[pathlib.Path, int]:
    times = {}
    for path in folder.rglob("*.py"):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        try:
            times[path] = path.stat().st_mtime_ns
        except OSError:  # between two versions
            pass
    return times


def _settings(wanted: argparse.Namespace) -> dict[str, str]:
    settings = {}
    for text in wanted.set:
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise Problem(f"--set: {text}, expected KEY=VALUE")
        settings[key] = value
    return settings


def _bisected(wanted: argparse.Namespace) -> int:
    settings = _settings(wanted)
    try:
        reference = Recording.of_file(wanted.against)
    except (OSError, ValueError) as refused:
        raise Problem(f"{wanted.against}: expected a recording: {refused}") from None
    try:
        model = _model(wanted.model)
        _give_parameters(model, reference)
        mine = record(model, *_inputs(reference))
    except Problem:
        raise
    except Exception as error:  # the person's own code
        print(_where(error), file=sys.stderr)
        return _REFUSED
    if wanted.record:
        _keep(mine, pathlib.Path(wanted.record))
    found = bisect(mine, reference, tolerance=wanted.tolerance, settings=settings)
    _say(found.text)
    return found.status


def _say(text: str) -> None:
    """Written here, where it can still be said that it can't be: on its way out Python has a status of its own for it."""
    try:
        print(text, end="" if text.endswith("\n") else "\n", flush=True)
    except OSError as refused:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would be tried again
        raise Problem(f"standard output: cannot be written: {refused.strerror}") from None


def _keep(recording: Recording, path: pathlib.Path) -> None:
    """Whole or not at all: a window may be reading it."""
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(recording.data)
        os.replace(new, path)
    except OSError as refused:
        raise Problem(f"--record: {path}: {refused.strerror}; expected a file that can be written") from None


def _model(wanted: str) -> Any:
    import torch

    path, _, name = wanted.rpartition(":")
    if not path or not pathlib.Path(path).is_file():
        raise Problem(f"{wanted}: there is no such file; expected FILE.py:NAME")
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise Problem(f"{path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise Problem(f"{path}: there is no {name} in it")
    made = getattr(module, name)
    model = made if isinstance(made, torch.nn.Module) else made()
    if not isinstance(model, torch.nn.Module):
        raise Problem(f"{wanted}: {type(model).__name__}, expected a torch.nn.Module")
    return model.eval()


def _give_parameters(model: Any, reference: Recording) -> None:
    own, kept = model.state_dict(), []
    given = {}
    for name, value in own.items():
        stored = reference.stored_name("param/" + name)
        if stored is not None and reference.shape(stored) == tuple(value.shape):
            given[name] = reference[stored]
        else:
            kept.append(name)
    model.load_state_dict(given, strict=False)
    if kept:
        print(f"The recording has no parameters for these, which stay as the model has them: {', '.join(kept)}")


def _inputs(reference: Recording) -> list[Any]:
    """What the recorded model was given, in its order."""
    call = next((call for call in reference.calls if call["name"] == "(model)"), None)
    if call is None or not call["in"]:
        raise Problem(f"{reference.name}: it doesn't say what the model was given; expected a recording of the whole model")
    return [reference[stored] for stored in call["in"].values()]


def _where(error: BaseException) -> str:
    """The person's line at which their code raised: "model.py:57: RuntimeError: …"."""
    at = getattr(error, "filename", None), getattr(error, "lineno", None)  # of what can't be parsed
    if not isinstance(error, SyntaxError):
        here, is_own = str(pathlib.Path(__file__).parent), recorder_module()._is_own
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if is_own(frame.filename) and not frame.filename.startswith(here)]
        at = (frames[-1].filename, frames[-1].lineno) if frames else (None, None)
    place = f"{at[0]}:{at[1]}: " if at[0] else ""
    return f"{place}{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


if __name__ == "__main__":
    sys.exit(main())
