"""A forward pass as a recording: its tensors by name, and the file that Decoderscope opens."""

from __future__ import annotations

import difflib
import json
import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

if TYPE_CHECKING:
    import torch

# A piece of the recording is left out in this order when it has to fit somewhere: last what explains most.
_PARAMETER, _OTHER, _ATTENTION, _ENDS = range(4)
_GRADIENT = "grad."  # and the name of what it is the gradient by


class Recording(Mapping[str, "torch.Tensor"]):
    """The tensors of a forward pass, by the names that the recorder gave them.

    run["h.0.attn/softmax/out"]   -> torch.Tensor, [batch, head, query, key]
    run["softmax"]                -> the only name that ends so; KeyError names what is close

    data    the recording as the bytes of a safetensors file

    >>> import torch, decoderscope as ds
    >>> run = ds.record(torch.nn.Softmax(dim=-1), torch.zeros(1, 2))
    >>> run["/out"]
    tensor([[0.5000, 0.5000]])
    >>> run["(modle)/out"]
    Traceback (most recent call last):
    KeyError: 'no tensor (modle)/out in recording.safetensors; there is (model)/out, (model)/in.input'
    """

    def __init__(self, data: bytes, name: str = "recording.safetensors"):
        self.data, self.name = data, name
        self._begin = 8 + struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else 0
        if self._begin < 8 or self._begin > len(data):
            raise ValueError(f"{name}: not a safetensors file: its header is cut off")
        header = json.loads(data[8:self._begin])
        self.metadata: dict[str, str] = header.pop("__metadata__", {})
        self._entries: dict[str, dict[str, Any]] = header
        if "hashed" in self.metadata:
            raise ValueError(f"{name}: it holds hashes in place of tensors; first_difference() compares it with another recording")
        self._same: Optional[dict[str, Optional[str]]] = None  # a tensor is stored once: each of its names -> that one
        for tensor, entry in header.items():
            if entry["data_offsets"][1] > len(data) - self._begin:
                raise ValueError(f"{name}: {tensor} is cut off")

    @classmethod
    def of_file(cls, path: str) -> Recording:
        """Reads a recording that a script wrote earlier."""
        with open(path, "rb") as file:
            return cls(file.read(), os.path.basename(path))

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, torch.Tensor], name: str, beside: Optional[Recording] = None) -> Recording:
        """These tensors as a recording; those of another one go on behind them."""
        import torch

        codes = {dtype: code for code, dtype in _dtypes(torch).items()}
        header: dict[str, Any] = {} if beside is None else {"__metadata__": beside.metadata}
        pieces: list[bytes] = []
        size = 0
        for tensor_name, tensor in tensors.items():
            if tensor.dtype not in codes:
                raise ValueError(f"{tensor_name}: {tensor.dtype}, expected numbers that safetensors has")
            piece = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
            header[tensor_name] = {"dtype": codes[tensor.dtype], "shape": list(tensor.shape),
                                   "data_offsets": [size, size + len(piece)]}
            pieces.append(piece)
            size += len(piece)
        if beside is not None:
            for other, entry in beside._entries.items():
                header[other] = {**entry, "data_offsets": [size + at for at in entry["data_offsets"]]}
            pieces.append(beside.data[beside._begin:])
        return cls(safetensors(header, pieces), name)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What was called, in order: {"name", "module" or "function", "in": {argument: tensor}, "out": …}."""
        return json.loads(self.metadata.get("calls", "[]"))

    def line_of(self, name: str) -> str:
        """The line of code that made a tensor, or was given it: "model.py:57: att = F.softmax(att, dim=2)"; empty if it
        isn't known."""
        call, _, _ = self._found(name).rpartition("/")
        return line_text(next((known.get("at") for known in self.calls if known["name"] == call), None))

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, without reading it."""
        return tuple(self._entries[self._found(name)]["shape"])

    def __getitem__(self, name: str) -> torch.Tensor:
        import torch

        name = self._found(name)
        entry, data = self._entries[name], self.data_of(name)
        dtype = _dtypes(torch)[entry["dtype"]]
        if not data:
            return torch.empty(entry["shape"], dtype=dtype)
        return torch.frombuffer(bytearray(data), dtype=dtype).reshape(entry["shape"])

    def data_of(self, name: str) -> bytes:
        """A tensor's numbers as they are stored, the last axis innermost."""
        begin, end = (self._begin + at for at in self._entries[self._found(name)]["data_offsets"])
        return self.data[begin:end]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Recording of {self.metadata.get('module', 'a model')}: {len(self)} tensors, {len(self.data) / 1e6:.1f} MB>"

    def name_of(self, name: str) -> str:
        """The whole name of a tensor that is meant by its ending. KeyError, with what is close, if none or several are."""
        return self._found(name)

    def stored_name(self, name: str) -> Optional[str]:
        """The name under which the tensor of this whole name is stored; None if there is none."""
        if name in self._entries:
            return name
        if self._same is None:
            self._same = {f"{call['name']}/{side}{'.' + port if port else ''}": stored
                          for call in self.calls for side in ("in", "out") for port, stored in call[side].items()}
        stored = self._same.get(name)
        return stored if stored in self._entries else None

    def _found(self, name: str) -> str:
        stored = self.stored_name(name)
        if stored is not None:
            return stored
        by_gradient = name.startswith(_GRADIENT)
        ending = [known for known in self._entries if known.endswith(name) and known.startswith(_GRADIENT) == by_gradient]
        if len(ending) == 1:
            return ending[0]
        close = ending[:5] or difflib.get_close_matches(name, self._entries, 5, 0.4)
        hint = "; there is " + ", ".join(close) if close else ""
        raise KeyError(f"no tensor {name} in {self.name}{hint}")

    def outputs(self) -> list[str]:
        """The names under which what the whole model returned is stored."""
        returned = [stored for call in self.calls if call["name"] == "(model)" for stored in call["out"].values()]
        return [name for name in returned if name in self._entries] or [
            name for name in self if name.startswith("(model)/out")]

    def patterns(self) -> dict[str, tuple[int, ...]]:
        """The attention patterns that were seen as a softmax's output, by name: [batch, head, query, key], or as
        torch.nn.MultiheadAttention computes them, [batch * head, query, key]."""
        found = {}
        for call in self.calls:
            name = call["out"].get("")
            if call.get("function") == "softmax" and name in self._entries and len(self._entries[name]["shape"]) in (3, 4):
                found[name] = tuple(self._entries[name]["shape"])
        return found

    def within(self, limit: int, as_model: bool = False) -> tuple[Recording, list[str]]:
        """The same with as much as fits into `limit` bytes, and the names that were left out. `as_model` keeps first what
        the model can be run with again: its parameters and what it was given."""
        if len(self.data) <= limit:
            return self, []
        room = limit - self._begin
        kept, left_out = set(), []

        def order(name: str) -> tuple[bool, int, int]:
            return as_model and not self._runs_it(name), -self._worth(name), self._bytes(name)

        for name in sorted(self._entries, key=order):
            if self._bytes(name) <= room:
                room -= self._bytes(name)
                kept.add(name)
            else:
                left_out.append(name)
        return self._only(kept, left_out), left_out

    def without_parameters(self) -> Recording:
        """What the model computed, without what it computed it from."""
        return self._only({name for name in self._entries if not name.startswith("param/")}, [])

    def _runs_it(self, name: str) -> bool:
        return name.startswith(("param/", "(model)/in"))

    def _bytes(self, name: str) -> int:
        begin, end = self._entries[name]["data_offsets"]
        return end - begin

    def _worth(self, name: str) -> int:
        if name.startswith("param/") or (name.startswith(_GRADIENT) and "/" not in name):
            return _PARAMETER
        if name.startswith("(model)/"):
            return _ENDS
        return _ATTENTION if "softmax" in name or "attention" in name else _OTHER

    def _only(self, kept: set[str], left_out: list[str]) -> Recording:
        header: dict[str, Any] = {}
        pieces, size = [], 0
        for name, entry in self._entries.items():
            if name not in kept:
                continue
            pieces.append(self.data_of(name))
            header[name] = {**entry, "data_offsets": [size, size + len(pieces[-1])]}
            size += len(pieces[-1])
        skipped = json.loads(self.metadata.get("skipped", "{}"))
        skipped.update(dict.fromkeys(left_out, "left out of what is stored: record again to see it"))
        header["__metadata__"] = {**self.metadata, "skipped": json.dumps(skipped, separators=(",", ":"))}
        return Recording(safetensors(header, pieces), self.name)


def safetensors(header: dict[str, Any], pieces: list[bytes]) -> bytes:
    """A safetensors file."""
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(pieces)


def line_text(at: Optional[dict[str, Any]]) -> str:
    """A recorded line of code in the form in which editors jump to it; empty if it isn't known."""
    return f"{at['file']}:{at['line']}: {at['text']}" if at else ""


def record(model: torch.nn.Module, *inputs: Any, modules: Optional[list[str]] = None, parameters: bool = True,
           functions: Union[bool, str] = True, gradients: Union[bool, Callable[[Any], torch.Tensor]] = False,
           only: Union[None, str, list[str]] = None, **arguments: Any) -> Recording:
    """Runs model(*inputs, **arguments) once and records it.

    modules      names of modules to record, as patterns ("h.0.*"); all if not given
    parameters   whether the weights are recorded, so that every number is explained down to them
    functions    whether functions are recorded, too; "all": also sums, products of numbers and views
    only         names of tensors to keep, as patterns ("*/softmax/out"), beside what the model was given; all if not given
    gradients    True: also the gradient of the loss by every tensor, run["grad.h.0.attn/softmax/out"]. The loss is the
                 output's own, or the mean cross-entropy of logits [batch, pos, vocab] against the next tokens
                 [batch, pos]. Or a function of the output that returns one number. No .grad is touched.

    If the model raises, what was recorded until then is the exception's `recording`.
    """
    import torch

    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{type(model).__name__}, expected a torch.nn.Module, a Recording, or the path of one")
    recorder = recorder_module()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording.safetensors")
        wanted = bool(gradients)
        if wanted:
            inputs, arguments = tuple(map(_leaf, inputs)), {name: _leaf(value) for name, value in arguments.items()}
        try:
            with torch.set_grad_enabled(wanted), recorder.record(model, path, modules=modules, functions=functions, only=only,
                                                                 parameters=parameters, gradients=wanted) as recording:
                output = model(*inputs, **arguments)
                if callable(gradients):
                    recording.add_gradients(gradients(output))
                elif wanted:
                    recording.add_gradients(**_loss(output, inputs, arguments))
        except Exception as error:
            if os.path.exists(path):
                error.recording = Recording.of_file(path)  # type: ignore[attr-defined]
            raise
        return Recording.of_file(path)


def _leaf(value: Any) -> Any:
    """A given vector with a gradient of its own; anything else as it is."""
    import torch

    return value.detach().requires_grad_() if torch.is_tensor(value) and value.is_floating_point() else value


def _loss(output: Any, inputs: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The number to take the gradients of, and what it is made of: target, loss [1], loss_per_token [batch, pos]."""
    import torch

    loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if torch.is_tensor(loss):
        return {"target": loss}
    logits: Any = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", output)
    logits = logits[0] if isinstance(logits, (tuple, list)) and logits else logits
    if torch.is_tensor(logits) and logits.numel() == 1:
        return {"target": logits}
    given = [value for value in (*inputs, *arguments.values()) if torch.is_tensor(value)]
    tokens = [value for value in given if not value.is_floating_point() and value.dtype != torch.bool
              and torch.is_tensor(logits) and logits.dim() == 3 and value.shape == logits.shape[:2]]
    if not tokens:
        raise ValueError("gradients=True: expected an output with a loss, or logits [batch, pos, vocab] of tokens "
                         "[batch, pos]; else give gradients=lambda output: … that returns one number")
    # The last position has no next token, and padding isn't a token: these count for nothing.
    targets = torch.full_like(tokens[0], -100)
    targets[:, :-1] = tokens[0][:, 1:]
    mask: Any = arguments.get("attention_mask")
    if torch.is_tensor(mask) and mask.shape == targets.shape:
        targets[:, :-1][mask[:, 1:] == 0] = -100
        targets[mask == 0] = -100
    each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, ignore_index=-100, reduction="none")
    mean = each.sum() / (targets != -100).sum()
    return {"target": mean, "loss_per_token": each.detach(), "loss": mean.detach().reshape(1)}


def recorder_module() -> Any:
    """The recorder: in the wheel beside this file, in the repository in assets/recorder."""
    import importlib
    import importlib.util

    try:
        return importlib.import_module(".recorder", __package__)
    except ImportError:
        path = os.path.join(os.path.dirname(__file__), "..", "..", "assets", "recorder", "record.py")
        spec = importlib.util.spec_from_file_location("decoderscope.recorder", path)
        if spec is None or spec.loader is None:
            raise
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def _dtypes(torch: Any) -> dict[str, Any]:
    names = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
             "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "F8_E4M3": "float8_e4m3fn",
             "F8_E5M2": "float8_e5m2"}
    return {code: getattr(torch, name) for code, name in names.items() if hasattr(torch, name)}
