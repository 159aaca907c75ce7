"""python -m decoderscope lens: a lens fitted to a model, in the manner of Belrose et al. 2023 ("Eliciting Latent Predictions from
Transformers with the Tuned Lens"): for each layer a linear map of the residual stream there to what leaves the last block. Theirs
minimises the KL divergence of the predictions; this one the squared error of the stream, which has one solution and needs no training."""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from .files import desktop_program, write_whole
from .overlay import Problem
from .recording import Recording, safetensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 64  # lines in a pass
_HELD_OUT = 10  # each tenth line isn't fitted, but measured
_MASK = "blocks.0.attn.mask"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("lens", help="fit a lens to a model on a text, to be shown beside the logit lens",
                                  description="Fits a lens to a model on a text: decoderscope MODEL --lens FILE shows it beside the logit lens.")
    command.add_argument("model", metavar="MODEL", help="a bundled model's name, or a folder")
    command.add_argument("--text", required=True, metavar="FILE", help="what the model reads, a line each; each tenth line is held out and measured")
    command.add_argument("--source", metavar="FILE", help="the encoder's text for each of these lines")
    command.add_argument("--out", required=True, metavar="FILE.safetensors", help="the lens")
    command.add_argument("--ridge", type=float, default=1e-3, metavar="X",
                         help="how strongly a map is drawn to the identity, which is the logit lens (0.001)")
    command.set_defaults(work=_write)


def _write(wanted: argparse.Namespace) -> int:
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise Problem("expected the Python package numpy") from None
    lines = _lines(wanted.text)
    source = _lines(wanted.source) if wanted.source else None
    if source is not None and len(source) != len(lines):
        raise Problem(f"{wanted.source}: {len(source)} lines, expected {len(lines)}, as many as {wanted.text} has")
    pairs = list(zip(lines, source or [""] * len(lines)))
    held_out = pairs[_HELD_OUT - 1::_HELD_OUT]
    fitted = [pair for i, pair in enumerate(pairs) if i % _HELD_OUT != _HELD_OUT - 1]
    write_whole(wanted.out, stored(fit(wanted.model, fitted, wanted.ridge)))
    for place, (logit, own) in divergences(wanted.model, held_out, wanted.out).items():
        print(f"{place}: {own:.3g} bits from the output; the logit lens {logit:.3g}")
    return 0


def _lines(path: str) -> list[str]:
    try:
        lines = [line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as refused:
        raise Problem(f"{path}: {refused}; expected a text, a line for each row of a batch") from None
    if len(lines) < _HELD_OUT:
        raise Problem(f"{path}: {len(lines)} lines, expected at least {_HELD_OUT}")
    return lines


def fit(model: str, pairs: Sequence[tuple[str, str]], ridge: float = 1e-3) -> "dict[str, NDArray[Any]]":
    """A map for what enters the first block, and for what leaves each but the last: "embed.weight" [d_model, d_model], out by in, and
    "embed.bias" [d_model]; "blocks.0.weight", ….

    pairs   the texts that the model reads, each with the encoder's
    ridge   the weight of the squared distance from the identity, relative to the stream's mean square
    """
    import numpy as np

    streams, last = _names(model, pairs[0])
    sums: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    for run in _runs(model, pairs, [*streams.values(), last, _MASK]):
        kept = np.diagonal(run[_MASK][:, 0], axis1=1, axis2=2) != 0  # [batch, pos]: not padding
        final = run[last][kept].astype(np.float64)  # [row, d_model]
        for place, name in streams.items():
            x = run[name][kept].astype(np.float64)
            with_one = np.concatenate([x, np.ones((len(x), 1))], axis=1)
            square, across = with_one.T @ with_one, with_one.T @ (final - x)
            before = sums.get(place, (0.0, 0.0))
            sums[place] = (before[0] + square, before[1] + across)
    lens = {}
    for place, (square, across) in sums.items():
        d_model = len(square) - 1
        penalty = np.diag([ridge * np.trace(square[:-1, :-1]) / d_model] * d_model + [0.0])
        from_identity = np.linalg.lstsq(square + penalty, across, rcond=None)[0]  # [d_model + 1, d_model]
        lens[f"{place}.weight"] = (np.eye(d_model) + from_identity[:-1]).T
        lens[f"{place}.bias"] = from_identity[-1]
    return lens


def divergences(model: str, pairs: Sequence[tuple[str, str]], lens: str) -> dict[str, tuple[float, float]]:
    """How far each place's predictions are from the output, as KL(output ‖ prediction) in bits, the mean over all positions: by the
    logit lens and by the fitted one, as the program computes them."""
    import numpy as np

    places = sorted({name.rpartition(".")[0] for name in _tensors(pathlib.Path(lens).read_bytes())}, key=lambda at: (at != "embed", len(at), at))
    names = [f"{kind}_lens.{at}.logits" for at in places for kind in ("logit", "fitted")]
    sums, count = np.zeros(len(names)), 0
    for run in _runs(model, pairs, ["logits", _MASK, *names], ["--lens", lens]):
        kept = np.diagonal(run[_MASK][:, 0], axis1=1, axis2=2) != 0
        output = _log_softmax(run["logits"][kept])
        sums += [float((np.exp(output) * (output - _log_softmax(run[name][kept]))).sum()) / np.log(2) for name in names]
        count += len(output)
    means = sums / count
    return {at: (float(means[2 * i]), float(means[2 * i + 1])) for i, at in enumerate(places)}


def stored(tensors: "dict[str, NDArray[Any]]") -> bytes:
    """As a safetensors file, in float32."""
    header: dict[str, Any] = {}
    pieces: list[bytes] = []
    size = 0
    for name, values in tensors.items():
        pieces.append(values.astype("<f4").tobytes())
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [size, size + len(pieces[-1])]}
        size += len(pieces[-1])
    return safetensors(header, pieces)


def _log_softmax(logits: "NDArray[Any]") -> "NDArray[Any]":
    import numpy as np

    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _names(model: str, pair: tuple[str, str]) -> tuple[dict[str, str], str]:
    """The stream's tensors by place, and what leaves the last block: of the same name as what leaves the first and enters the second."""
    import numpy as np

    run = next(_runs(model, [pair], []))
    blocks = sum(name.startswith("blocks.") and name.endswith(".resid_pre") for name in run)
    if blocks < 2 or "logits" not in run:
        raise Problem(f"{model}: expected a model of two blocks or more, with a language head")
    entered = run["blocks.1.resid_pre"]
    left = [name for name in run if name.startswith("blocks.0.") and np.array_equal(run[name], entered, equal_nan=True)]
    streams = {"embed": "blocks.0.resid_pre", **{f"blocks.{i}": f"blocks.{i + 1}.resid_pre" for i in range(blocks - 1)}}
    return streams, left[-1].replace("blocks.0.", f"blocks.{blocks - 1}.", 1)


def _runs(model: str, pairs: Sequence[tuple[str, str]], only: list[str], options: Sequence[str] = ()) -> "Iterator[dict[str, NDArray[Any]]]":
    """The tensors of the passes over the texts, some at a time."""
    program = desktop_program()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.safetensors"
        for first in range(0, len(pairs), _ROWS):
            texts, sources = zip(*pairs[first:first + _ROWS])
            given = ["--text=" + "\n".join(texts), *(["--source=" + "\n".join(sources)] if any(sources) else [])]
            done = subprocess.run([program, "trace", model, *given, *options, "--out", str(out), *(["--only", *only] if only else [])],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                said = done.stderr.strip().splitlines()
                raise Problem(said[-1].removeprefix("decoderscope: ") if said else f"the program ended with {done.returncode}")
            yield _tensors(out.read_bytes())


def _tensors(data: bytes) -> "dict[str, NDArray[Any]]":
    """Of a safetensors file that the program wrote, or `stored`: in float32, in the order in which they lie there."""
    import numpy as np

    recording = Recording(data)
    in_order = sorted(recording, key=lambda name: recording._entries[name]["data_offsets"])
    return {name: np.frombuffer(recording.data_of(name), "<f4").reshape(recording.shape(name)) for name in in_order}
