"""Records what a PyTorch model computes, for Decoderscope to open, compare and explain.

    from record import record

    with record(model, "trace.safetensors"):
        model(tokens)

    decoderscope open trace.safetensors
    decoderscope bisect MODEL --against trace.safetensors

The trace holds, in the order of calls: the inputs and outputs of every module, with repeated calls numbered; those of
attention, softmax, masked fills, norms and products of two activations, also where they are plain function calls; the
state_dict; the modules' hyperparameters. It is a safetensors file. Names in it:

    param/h.0.attn.q.weight       a parameter or buffer, by its key in the state_dict; param/W[0], a layer's part of W
    h.0.attn.q/in.input           an input of a module, by the argument's name
    h.0.attn.q/out                its output; out.0, out.1, ... of a tuple, out.KEY of a dictionary
    h.0.attn.q#2/out              of its second call
    h.0.attn/softmax/in.input     an input of a function that was called inside h.0.attn
    h.0.attn/softmax#2/out        the second softmax of that call
    (model)/in.tokens             the recorded module itself
    h.0/mul/in.other              a number that is multiplied by a parameter there, which the call names
    grad.h.0.attn.q/out           the gradient of a number by a tensor; grad.h.0.attn.q.weight by a parameter

Gradients are recorded where they are asked for, without touching any .grad:

    with record(model, "trace.safetensors", gradients=True) as recording:
        recording.add_gradients(loss(model(tokens)))

A tensor that has been recorded is not stored again: the list of calls, in the file's metadata, refers to it by its
first name. Numbers are stored as they are: float16 stays float16.

With each call stands the line of code that made it: file, line and text. Lines of PyTorch, of Python's own library, and of
functions that only pass their arguments on (a decorator's) don't count: it is the next one outside. A file below the
current folder, or below one where Python looks for modules, is named from there, any other by its name alone.

Where two runs on one machine are to be the same, bit for bit, hashes say where they part, in a file of some kB:

    with record(model, "before.safetensors", hashes=True): ...
    with record(model, "after.safetensors", hashes=True): ...

    python record.py before.safetensors after.safetensors

It is written incrementally, a piece at a time. If the program ends early, the file opens with all pieces that were
written. Under torch.distributed each rank writes a file of its own, and rank 0 a manifest, trace.manifest.json, that
names them all; Decoderscope opens the manifest.

Needs torch 1.13 or later, and nothing else.
"""

import bisect
import ctypes
import fnmatch
import functools
import hashlib
import inspect
import json
import linecache
import os
import struct
import sys
import sysconfig
import threading
import weakref

import torch
from torch.overrides import TorchFunctionMode

try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:
    TorchDispatchMode = None

__all__ = ["first_difference", "record"]

FORMAT = "decoderscope-trace 1"

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
           "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "uint16": "U16", "uint32": "U32", "uint64": "U64",
           "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}
_DTYPES = {getattr(torch, name): code for name, code in _DTYPES.items() if hasattr(torch, name)}

# The functions that are recorded: the names of their tensor arguments, and of other arguments worth keeping.
_FUNCTIONS = {
    "scaled_dot_product_attention": (("query", "key", "value", "attn_mask"),
                                     ("dropout_p", "is_causal", "scale", "enable_gqa")),
    "softmax": (("input",), ("dim",)),
    "log_softmax": (("input",), ("dim",)),
    "masked_fill": (("input", "mask", "value"), ()),
    "where": (("condition", "input", "other"), ()),
    "layer_norm": (("input", "normalized_shape", "weight", "bias", "eps"), ("eps",)),
    "rms_norm": (("input", "normalized_shape", "weight", "eps"), ("eps",)),
    "group_norm": (("input", "num_groups", "weight", "bias", "eps"), ("num_groups", "eps")),
    "matmul": (("input", "other"), ()),
    "bmm": (("input", "other"), ()),
    "baddbmm": (("input", "batch1", "batch2"), ("beta", "alpha")),
    "einsum": (("equation",), ("equation",)),
    "gelu": (("input",), ("approximate",)),
    "relu": (("input",), ()),
    "silu": (("input",), ()),
    "mish": (("input",), ()),
    "dropout": (("input", "p", "training"), ("p", "training")),
    "embedding": (("input", "weight"), ()),
}
# What is recorded, too, where code of a person's own gives it a parameter.
_APPLIED = {"linear": ("input", "weight", "bias"), "add": ("input", "other"), "mul": ("input", "other"),
            "getitem": ("input", "index"), "addmm": ("bias", "input", "weight")}
_POSITIONS = {"scaled_dot_product_attention": ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale"),
              "softmax": ("input", "dim"), "log_softmax": ("input", "dim"), "gelu": ("input", "approximate")}
_ALIASES = {"__matmul__": "matmul", "__rmatmul__": "matmul", "masked_fill_": "masked_fill", "_softmax": "softmax",
            "_safe_softmax": "softmax", "softmax_": "softmax", "relu_": "relu", "silu_": "silu", "native_layer_norm":
            "layer_norm", "_scaled_dot_product_attention": "scaled_dot_product_attention", "__add__": "add",
            "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__getitem__": "getitem"}
_PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum")
_PLAIN = ("Tensor", "Parameter")
# Composed of other functions in Python; the function mode doesn't see the calls inside.
_COMPOSED = ("multi_head_attention_forward",)


_being_recorded = weakref.WeakSet()


class record:
    """Records the calls of `module` inside the with block, in the thread of that block.

    path        the safetensors file to write
    modules     names of modules to record, as patterns ("h.0.*", "lm_head"); all if not given
    functions   whether functions are recorded, too, not only modules; "all": also those that are not part of a known step
                (sums, products of numbers, views), with what they gave
    parameters  whether the state_dict is stored
    piece       how many bytes are collected before they are written
    shards      under tensor parallelism: {pattern of tensors' names: axis along which they are sharded}.
                DTensors carry this themselves.
    gradients   whether add_gradients() will be called: what is recorded is then kept until the end
    only        names of tensors to store, as patterns ("*/softmax/out", "param/*"); all if not given. What the model
                was given is always stored.
    hashes      whether a hash of each tensor is stored in its place: for first_difference()
    """

    def __init__(self, module, path, modules=None, functions=True, parameters=True, piece=64 << 20, shards=None,
                 gradients=False, only=None, hashes=False):
        self.module, self.path = module, os.fspath(path)
        self.patterns = [modules] if isinstance(modules, str) else modules
        self.only = [only] if isinstance(only, str) else only
        self._left_out = ""  # the first tensor that is none of these
        self._hashed = {} if hashes else None  # the shapes of the tensors
        self.with_functions, self.with_parameters = functions, parameters
        self.rank, self.world = _rank()
        self.shards = dict(shards or {})
        self._file = _File(_rank_path(self.path, self.rank, self.world), piece)
        self._calls, self._stack, self._wrapped = [], [], []
        self._names, self._seen, self._counts = set(), {}, {}
        self._skipped, self._sharded = {}, {}
        self._kept = [] if gradients else None  # (name, tensor, its version), in the order of recording
        self._busy = self._within_one = False
        self._thread, self._elsewhere = None, 0  # that is followed; calls of the module in others
        self._lines = {}
        # Parameters by their address, and those of which layers have a part each; modules whose functions are given several.
        self._own, self._addresses, self._stacked, self._applying = [], [], {}, set()

    # ---- the context

    def __enter__(self):
        if self.module in _being_recorded:
            raise RuntimeError("record: this %s is being recorded already, perhaps in another thread; expected one recording "
                               "at a time" % type(self.module).__name__)
        _being_recorded.add(self.module)
        self._thread = threading.get_ident()
        try:
            self._begin_recording()
        except BaseException:
            self._leave()
            raise
        return self

    def _begin_recording(self):
        if self.world > 1 and self.rank == 0:
            _write_manifest(self.path, self.world, self.shards)
        self._file.metadata = self._metadata
        # A model without parameters has its weights in buffers, or in attributes of its own.
        own, plain = dict(self.module.named_parameters()), {}
        has_none = not own
        if has_none:
            attributes = {key: value for key, value in vars(self.module).items() if not key.startswith("_")}
            plain = {name: value for name, value in _flat("", attributes).items() if value.is_floating_point()}
            own = {**plain, **{name: value for name, value in self.module.named_buffers() if value.is_floating_point()}}
        if self.with_parameters:
            buffers = {name for name, _ in self.module.named_buffers()}
            for name, value in {**self.module.state_dict(), **plain}.items():
                is_cache = name in buffers and torch.is_tensor(value) and sum(size > 1 for size in value.shape) > 2
                if torch.is_tensor(value) and not is_cache:
                    self._store("param/" + name, value)
        self._own = sorted((value.data_ptr(), name, value) for name, value in own.items()
                           if value.numel() and value.device.type != "meta" and not hasattr(value, "to_local"))
        self._addresses = [address for address, _, _ in self._own]
        for name, module in self.module.named_modules():
            if self._chosen(name):
                self._wrap(name or "(model)", module)
            if not type(module).__module__.startswith("torch.nn") and (has_none or not _is_one_thing(module)):
                self._applying.add(name or "(model)")
        self._mode = _Functions(self) if self.with_functions else None
        if self._mode is not None:
            self._mode.__enter__()

    def __exit__(self, kind, error, trace):
        if self._mode is not None:
            self._mode.__exit__(kind, error, trace)
        self._leave()
        for name in self._stacked:
            if self._hashed is None and not self._is_table(name):  # a hash has no parts
                self._file.split("param/" + name, self._stacked[name])
        self._file.close(finished="%s: %s" % (kind.__name__, error) if kind else "yes")
        self._seen.clear()
        self._kept = None
        computed = [name for name in self._skipped if not name.startswith("param/") and "/" in name]
        if kind is None and computed and all(name.startswith("param/") for name in self._names):
            raise ValueError("record: nothing that was computed could be recorded: %s: %s" % (computed[0], self._skipped[computed[0]]))
        if kind is None and self._left_out and all(name.startswith("(model)/in") for name in self._names):
            raise ValueError("record: no tensor has a name as in only=%r; the first one is %s" % (self.only, self._left_out))
        return False

    def _leave(self):
        """Leaves the modules as they were."""
        _being_recorded.discard(self.module)
        for module, before in reversed(self._wrapped):
            for key, value in before.items():
                if value is None:
                    module.__dict__.pop(key, None)
                else:
                    module.__dict__[key] = value

    # ---- modules

    def _chosen(self, name):
        return self.patterns is None or _matches(name, self.patterns)

    def _wrap(self, name, module):
        # layer.compile() calls what was compiled in place of forward: while recording, layers run as they are written.
        before = {key: module.__dict__.get(key) for key in ("forward", "_compiled_call_impl")}
        forward = module.forward
        parameters = _parameter_names(forward)

        def recorded(*args, **kwargs):
            if threading.get_ident() != self._thread:
                self._elsewhere += module is self.module
                return forward(*args, **kwargs)
            call = self._begin(name, module)
            self._keep(call, "in", _named(parameters, args, kwargs))
            try:
                out = forward(*args, **kwargs)
            finally:
                self._stack.pop()
                self._within_one = False
            self._keep(call, "out", _flat("", out))
            return out

        try:
            module.forward = recorded
        except Exception:  # a scripted module can't be wrapped
            self._skipped[name] = "its calls can't be followed: " + type(module).__name__
            return
        if before["_compiled_call_impl"] is not None:
            module.__dict__["_compiled_call_impl"] = None
        self._wrapped.append((module, before))

    def _begin(self, name, module):
        call = {"name": self._numbered(name), "module": name, "class": type(module).__name__, "in": {}, "out": {}}
        self._note_line(call)
        if self._stack:
            call["inside"] = self._stack[-1]["name"]
        self._calls.append(call)
        self._stack.append(call)
        # torch.nn's own leaf modules are one function each, with the same inputs.
        self._within_one = type(module).__module__.startswith("torch.nn") and not any(True for _ in module.children())
        return call

    def _numbered(self, name):
        count = self._counts[name] = self._counts.get(name, 0) + 1
        return name if count == 1 else "%s#%d" % (name, count)

    # ---- functions

    def _function(self, func, args, kwargs):
        """The record of a function's call; None for functions that are not recorded."""
        if self._busy or not self._stack or self._within_one or threading.get_ident() != self._thread:
            return None
        name = getattr(func, "__name__", "")
        if "." in name:  # aten's overloads: "bmm.default"
            name = name.split(".")[0]
        name = _ALIASES.get(name, name)
        if name.startswith("_scaled_dot_product"):
            name = "scaled_dot_product_attention"
        everything = self.with_functions == "all"
        inside = self._stack[-1]
        if name not in _FUNCTIONS and not everything and not (name in _APPLIED and inside["module"] in self._applying):
            return None
        given = _given(name, args, kwargs) if name in _FUNCTIONS or name in _APPLIED else {}
        tensors = {key: value for key, value in given.items() if torch.is_tensor(value)}
        applied = {}
        if inside["module"] in self._applying:
            applied = {key: self._parameter(value) for key, value in tensors.items() if self._parameter(value)}
        if not everything and not applied:
            axes = [value.dim() for value in tensors.values()]
            # An attention multiplies tensors of heads or, without a batch, one head's matrices.
            is_of_heads = sum(count > 2 for count in axes) > 1 or set(axes) == {2}
            if name not in _FUNCTIONS or name in _PRODUCTS and not is_of_heads:
                return None
        call = {"name": self._numbered(inside["name"] + "/" + name), "function": name, "module": inside["module"],
                "inside": inside["name"], "in": {}, "out": {}}
        self._note_line(call)
        for key, value in given.items():
            if key in ("value",) + _FUNCTIONS.get(name, ((), ()))[1] and isinstance(value, (int, float, bool, str)):
                call.setdefault("with", {})[key] = value if value == value and abs(_number(value)) < 1e300 else str(value)
        if applied:
            call["parameters"] = applied
        self._calls.append(call)
        self._keep(call, "in", {key: value for key, value in tensors.items() if key not in ("weight", "bias", *applied)})
        return call

    def _parameter(self, value):
        """The name of the parameter that a tensor is, in whatever order its axes are; "NAME[:]" of its first rows;
        "NAME[2]", the third of several that are stacked, "NAME[2][0]" of stacks in it."""
        if not self._own or type(value).__name__ not in _PLAIN or value.device.type == "meta" or not value.numel():
            return None
        address, name, whole = self._own[max(bisect.bisect_right(self._addresses, value.data_ptr()) - 1, 0)]
        behind = (value.data_ptr() - address) // whole.element_size()
        if not 0 <= behind < whole.numel() or value.dtype != whole.dtype or value.device != whole.device:
            return None
        if value.numel() == whole.numel():
            return name
        part, rest, each = "", behind, whole.numel()
        for depth, size in enumerate(whole.shape[:-1], 1):
            each //= size
            part, rest = "%s[%d]" % (part, rest // each), rest % each
            if value.numel() == each and rest == 0 and value.dim() == whole.dim() - depth and whole.is_contiguous() and \
                    not self._is_table(name) and self._stacked.setdefault(name, depth) == depth:
                return name + part
        return name + "[:]" if behind == 0 else None

    def _is_table(self, name):
        """Whether a parameter was used as a whole, too."""
        return any(name in call.get("parameters", {}).values() for call in self._calls)

    # ---- lines of code

    def _note_line(self, call):
        """The line that made a call, in the code of whoever wrote the model."""
        frame = _own_frame(sys._getframe(1))
        if frame is None:
            return
        at = frame.f_code.co_filename, frame.f_lineno
        if at not in self._lines:
            text = _statement(linecache.getlines(at[0], frame.f_globals)[at[1] - 1:at[1] + 7])
            self._lines[at] = {"file": _shown_path(at[0]), "line": at[1], "text": text[:200]}
        call["at"] = self._lines[at]

    # ---- tensors

    def _keep(self, call, side, tensors):
        if self._busy:
            return
        self._busy = True
        try:
            for port, value in tensors.items():
                name = call["name"] + "/" + side + ("." + port if port else "")
                call[side][port] = self._tensor(name, value)
        finally:
            self._busy = False

    def _tensor(self, name, value):
        known = self._seen.get(id(value))
        if known is not None and known[0]() is value and known[1] == _version(value):
            return known[2]
        if not self._store(name, value):
            return None
        self._seen[id(value)] = (weakref.ref(value), _version(value), name)
        if self._kept is not None:
            self._kept.append((name, value, _version(value)))
        return name

    # ---- gradients

    def add_gradients(self, target, **tensors):
        """Records the gradient of a number, say the loss, by every tensor and parameter that needs one: zero where the
        number doesn't depend on it.

        target    a tensor of one number
        tensors   to be recorded, too, before the gradients: loss=…, loss_per_token=…
        """
        if self._kept is None:
            raise ValueError("record(..., gradients=True) is expected where add_gradients() is called")
        if target.numel() != 1 or not target.requires_grad:
            raise ValueError("add_gradients: expected one number that depends on what was recorded, with gradients on")
        self._busy = True
        try:
            for name, value in tensors.items():
                self._store(name, value)
            kept = []
            for name, value, version in self._kept:  # whether one needs a gradient is known after its call
                if version != _version(value):
                    self._skipped["grad." + name] = "the tensor was modified in place"
                elif value.requires_grad:
                    kept.append((name, value))
            if self.with_parameters:
                kept += [(name, value) for name, value in self.module.named_parameters() if value.requires_grad]
            found = torch.autograd.grad(target.reshape(()), [value for _, value in kept], allow_unused=True)
            for (name, value), gradient in zip(kept, found):
                self._store("grad." + name, torch.zeros_like(value) if gradient is None else gradient)
        finally:
            self._busy = False

    def _store(self, name, value):
        if name in self._names:
            return True
        if self.only is not None and not name.startswith("(model)/in") and not _matches(name, self.only):
            self._left_out = self._left_out or name
            return False
        try:
            value, axis = _local(value.detach())
            if axis is not None:
                self._sharded[name] = axis
            if value.is_complex():
                value = torch.view_as_real(value)
            if value.layout != torch.strided or value.dtype not in _DTYPES or value.is_quantized or value.device.type == "meta":
                raise TypeError("%s, %s, on %s" % (value.layout, value.dtype, value.device.type))
            value = value.cpu().contiguous()
            dtype, shape, data = _DTYPES[value.dtype], list(value.shape), _bytes(value)
            if self._hashed is not None:
                self._hashed[name] = shape
                dtype, shape, data = "U8", [_HASH_BYTES], _hash(dtype, shape, data)
            self._file.add(name, dtype, shape, data)
        except (TypeError, NotImplementedError, RuntimeError) as error:
            self._skipped[name] = str(error).splitlines()[0][:200]
            return False
        self._names.add(name)
        return True

    def _metadata(self, finished):
        hashed = {} if self._hashed is None else {"hashed": json.dumps(self._hashed, separators=(",", ":"))}
        return {"format": FORMAT, **hashed, "finished": finished, "torch": torch.__version__, "module": type(self.module).__name__,
                "training": str(bool(self.module.training)).lower(), "rank": str(self.rank), "world_size": str(self.world),
                "calls": json.dumps(self._calls, separators=(",", ":")),
                "hyperparameters": json.dumps(_hyperparameters(self.module), separators=(",", ":")),
                "shards": json.dumps(self._sharded, separators=(",", ":")),
                "skipped": json.dumps(self._skipped, separators=(",", ":")), "calls_in_other_threads": str(self._elsewhere)}


class _Functions(TorchFunctionMode):
    """Intercepts torch functions, whichever module calls them."""

    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _COMPOSED and TorchDispatchMode is not None and not self.recorder._busy:
            with _Kernels(self.recorder):
                return func(*args, **kwargs)
        return _run(self.recorder, func, args, kwargs)


if TorchDispatchMode is not None:
    class _Kernels(TorchDispatchMode):
        """The same one level lower, inside a function that is composed of others."""

        def __init__(self, recorder):
            super().__init__()
            self.recorder = recorder

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return _run(self.recorder, func, args, kwargs or {})


def _run(recorder, func, args, kwargs):
    call = recorder._function(func, args, kwargs)
    out = func(*args, **kwargs)
    if call is not None:
        if getattr(func, "__name__", "").split(".")[0].endswith("_"):
            recorder._seen.pop(id(args[0]), None)  # modified in place: another value now
        first = out[0] if isinstance(out, (tuple, list)) and out and torch.is_tensor(out[0]) else out
        is_last = recorder._calls[-1] is call
        if is_last and call["function"] == "getitem":  # a layer's part of a parameter isn't computed
            recorder._calls.pop()
            if torch.is_tensor(first) and (recorder._parameter(first) or "[:]")[-2] != ":":
                return out
            recorder._calls.append(call)
        recorder._keep(call, "out", _flat("", first))
        if not call["in"] and not call["out"] and is_last:  # a shape, a size
            recorder._calls.pop()
    return out


# ---- lines of code


_HERE = os.path.abspath(__file__)
_PACKAGE = __name__[:__name__.rfind(".") + 1]  # "decoderscope." in the package for notebooks, otherwise ""
_NOT_OWN = tuple(os.path.join(os.path.abspath(folder), "") for folder in
                 (os.path.dirname(torch.__file__), sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]))
_PACKAGES = tuple(os.path.join(folder, "") for folder in ("site-packages", "dist-packages"))


def _own_frame(frame):
    """The innermost frame that is neither PyTorch's, Python's nor of this file and its package, and doesn't only pass
    arguments on; of those that do, the innermost, if there is no other. None if there is neither."""
    passing = None
    while frame is not None:
        beside_this = _PACKAGE and str(frame.f_globals.get("__name__")).startswith(_PACKAGE)
        if not beside_this and _is_own(frame.f_code.co_filename):
            if not _passes_on(frame.f_code):
                return frame
            passing = passing or frame
        frame = frame.f_back
    return passing


@functools.lru_cache(maxsize=None)
def _is_own(file):
    if file.startswith("<") and not file.startswith("<ipython"):
        return False
    path = os.path.abspath(file)
    if path == _HERE or path.startswith(_NOT_OWN[0]):
        return False
    return not path.startswith(_NOT_OWN[1:]) or any(packages in path for packages in _PACKAGES)


def _statement(lines):
    """The first line, with those that follow as long as a bracket is open."""
    text = ""
    for line in lines:
        text = (text + " " + line.strip()).strip()
        if sum(text.count(bracket) for bracket in "([{") <= sum(text.count(bracket) for bracket in ")]}"):
            return text
    return lines[0].strip() if lines else ""


def _passes_on(code):
    """Whether a function takes whatever it is given, as a decorator's does; a module's forward is no such function."""
    takes_all = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return code.co_flags & takes_all == takes_all and code.co_varnames[:1] != ("self",)


def _shown_path(file):
    """A file below the current folder, or below one where Python looks for modules, by its path from there; a notebook's
    cell by its number; others by their name. A recording is handed on: it doesn't say where a person keeps their files."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None and hasattr(kernel, "get_ipython") else None
    cells = getattr(getattr(shell, "compile", None), "_filename_map", None)
    if isinstance(cells, dict) and file in cells:
        return "In [%s]" % cells[file]
    path = os.path.abspath(file)
    for folder in [os.getcwd(), *sorted(map(os.path.abspath, filter(None, sys.path)), key=len, reverse=True)]:
        if path.startswith(os.path.join(folder, "")):
            return os.path.relpath(path, folder)
    return os.path.basename(path)


# ---- arguments


def _parameter_names(forward):
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [p.name for p in inspect.signature(forward).parameters.values() if p.kind in kinds]
    except (TypeError, ValueError):
        return []


def _named(parameters, args, kwargs):
    """The tensors among the arguments, by the arguments' names."""
    found = {}
    for number, value in enumerate(args):
        found.update(_flat(parameters[number] if number < len(parameters) else str(number), value))
    for key, value in kwargs.items():
        found.update(_flat(key, value))
    return found


def _flat(name, value, depth=0):
    """The tensors in a value, by their path in it."""
    if torch.is_tensor(value):
        return {name: value}
    if depth > 6:
        return {}
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif hasattr(value, "__dataclass_fields__"):
        items = ((key, getattr(value, key, None)) for key in value.__dataclass_fields__)
    else:
        return {}
    found = {}
    for key, inner in items:
        found.update(_flat("%s.%s" % (name, key) if name else str(key), inner, depth + 1))
    return found


def _is_one_thing(module):
    """Whether a module is one parameter, or two with its bias: its calls say what is done with it."""
    own = list(module.parameters(recurse=False))
    return not any(True for _ in module.children()) and len(own) < 3 and sum(value.dim() > 1 for value in own) < 2


def _given(name, args, kwargs):
    """A function's arguments by name; tensors in a list by index."""
    names = _POSITIONS.get(name) or _FUNCTIONS.get(name, (_APPLIED.get(name),))[0]
    given = {}
    for number, value in enumerate(args):
        if name == "einsum" and number > 0:
            given.update(_flat("operand%d" % number, value))
        else:
            given[names[number] if number < len(names) else str(number)] = value
    given.update(kwargs)
    return given


def _number(value):
    return 0 if isinstance(value, str) else value


def _hyperparameters(root):
    """The modules' plain attributes besides parameters: sizes, rates, eps."""
    found = {}
    for name, module in root.named_modules():
        values = {key: value for key, value in vars(module).items() if not key.startswith("_") and _is_plain(value)}
        values.pop("training", None)
        if values:
            found[name or "(model)"] = values
    found["(buffers)"] = {"all": True, **{name: True for name, _ in root.named_buffers()}}
    for owner in (root, getattr(root, "config", None), getattr(root, "args", None)):
        if owner is not None and owner is not root and hasattr(owner, "__dict__"):
            plain = {key: value for key, value in vars(owner).items() if not key.startswith("_") and _is_plain(value)}
            found.setdefault("(config)", {}).update({**plain, **_configuration(owner)})
    return found


def _configuration(owner):
    """What a configuration of Transformers says of itself: also what it nests (rope_parameters) or has by default."""
    def fits(key, value):
        try:
            return not key.startswith("_") and len(json.dumps(value, allow_nan=False)) < 4000
        except (TypeError, ValueError):
            return False

    try:
        said = {**owner.to_dict(), "attn_implementation": getattr(owner, "_attn_implementation", None)}
        return {key: value for key, value in said.items() if fits(key, value)}
    except Exception:  # another's to_dict()
        return {}


def _is_plain(value):
    if isinstance(value, float):
        return value == value and abs(value) < 1e300
    if isinstance(value, str):
        return len(value) < 200
    if isinstance(value, (list, tuple)):
        return len(value) < 20 and all(isinstance(item, (int, float, str, bool)) and _is_plain(item) for item in value)
    return isinstance(value, (bool, int))


def _matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _version(value):
    try:
        return value._version
    except RuntimeError:  # created under inference_mode
        return None


def _local(value):
    """This rank's shard of a DTensor, and the axis along which it is sharded."""
    if not hasattr(value, "to_local") or not hasattr(value, "placements"):
        return value, None
    axes = [placement.dim for placement in value.placements if hasattr(placement, "dim")]
    return value.to_local(), axes[0] if axes else None


def _bytes(value):
    size = value.numel() * value.element_size()
    return ctypes.string_at(value.data_ptr(), size) if size else b""


# ---- hashes


_HASH_BYTES = 16


def _hash(dtype, shape, data):
    digest = hashlib.blake2b(json.dumps([dtype, shape]).encode(), digest_size=_HASH_BYTES)
    digest.update(data)
    return digest.digest()


def _hashes_of(path):
    """What a recording says of itself, and each tensor's shape and hash, in the order of recording."""
    with open(path, "rb") as file:
        try:
            size = struct.unpack("<Q", file.read(8))[0]
            if size > os.path.getsize(path) - 8:
                raise ValueError
            header = json.loads(file.read(size))
            metadata = header.pop("__metadata__")
            if not metadata["format"].startswith(FORMAT[:-2]):
                raise ValueError
        except (struct.error, ValueError, KeyError, AttributeError):
            raise ValueError("%s: expected a recording, a file that record() wrote" % path) from None
        shapes = json.loads(metadata["hashed"]) if "hashed" in metadata else None
        found = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            file.seek(8 + size + begin)
            data = file.read(end - begin)
            if len(data) < end - begin:
                break  # the file is cut off here
            if shapes is None:
                found[name] = entry["shape"], _hash(entry["dtype"], entry["shape"], data)
            else:
                found[name] = shapes[name], data
    return metadata, found


def first_difference(a, b):
    """Where two recordings part, bit for bit; each with hashes or with its tensors. Sentences, of which the first one says it;
    and whether all is the same: 0, they differ: 1, or not all could be compared: 3. ValueError if a file is no recording.

    >>> first_difference("before.safetensors", "after.safetensors")
    (['h.3.attn/softmax/out, [2, 4, 9, 9], is the first of 212 tensors that differ, of 344: model.py:57: att = softmax(att)'], 1)
    """
    (said, ours), (also_said, theirs) = _hashes_of(a), _hashes_of(b)
    both = [name for name in ours if name in theirs]
    differing = [name for name in both if ours[name] != theirs[name]]
    alone = [name for name in (*ours, *theirs) if not (name in ours and name in theirs)]
    weights = [name for name in differing if name.startswith("param/")]
    computed = [name for name in differing if not name.startswith("param/")]
    lines = {call["name"]: call["at"] for call in json.loads(said.get("calls", "[]")) if "at" in call}
    sentences = []
    if weights:
        sentences.append("%s is the first of %d parameters that differ" % (weights[0][len("param/"):], len(weights)))
    if computed:
        first = computed[0]
        shapes = [list(of[first][0]) for of in (ours, theirs)]
        shape = str(shapes[0]) if shapes[0] == shapes[1] else "%s in %s and %s in %s" % (shapes[0], a, shapes[1], b)
        at = lines.get(first.rpartition("/")[0])
        line = ": %s:%d: %s" % (at["file"], at["line"], at["text"]) if at else ""
        sentences.append("%s, %s, is the first of %d tensors that differ, of %d%s" % (first, shape, len(computed), len(both), line))
    if not differing:
        sentences.append("%d tensors are the same, bit for bit" % len(both))
    if alone:
        sentences.append("%d tensors are in one of them alone, first %s" % (len(alone), alone[0]))
    for path, of in ((a, said), (b, also_said)):
        if of.get("finished") != "yes":
            sentences.append("%s ends before what was recorded did: %s" % (path, of.get("finished")))
    whole = both and not alone and said.get("finished") == also_said.get("finished") == "yes"
    return sentences, 1 if differing else 0 if whole else 3


# ---- files


class _File:
    """A safetensors file that grows: its header is rewritten after each piece. Space for the header is reserved; when it is
    full, the data moves behind a larger one."""

    ROOM = 1 << 20

    def __init__(self, path, piece):
        self.path, self.piece = path, max(int(piece), 1)
        self.metadata = lambda finished: {}
        self.entries, self.waiting = {}, []
        self.size = self.waiting_size = self.room = 0
        self.file = None

    def add(self, name, dtype, shape, data):
        self.entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [self.size, self.size + len(data)]}
        self.size += len(data)
        self.waiting.append(data)
        self.waiting_size += len(data)
        if self.waiting_size >= self.piece:
            self.write("no")

    def split(self, name, depth=1):
        """What was added under a name becomes its parts along the first axes, NAME[0], NAME[1], ..., where they are."""
        whole = self.entries.pop(name, None) if depth else None
        if whole is not None:
            begin, end = whole["data_offsets"]
            each = (end - begin) // whole["shape"][0]
            for part in range(whole["shape"][0]):
                self.entries["%s[%d]" % (name, part)] = {
                    "dtype": whole["dtype"], "shape": whole["shape"][1:],
                    "data_offsets": [begin + part * each, begin + (part + 1) * each]}
                self.split("%s[%d]" % (name, part), depth - 1)

    def header(self, finished, room):
        text = json.dumps(dict({"__metadata__": self.metadata(finished)}, **self.entries), separators=(",", ":")).encode()
        size = max(room, (len(text) + 7) // 8 * 8)
        return struct.pack("<Q", size) + text + b" " * (size - len(text)), size

    def write(self, finished):
        header, size = self.header(finished, self.room if self.file else 0 if finished != "no" else self.ROOM)
        if self.file is None:
            self.file = open(self.path, "w+b")
            self.room = size
        elif size > self.room:
            self.room = 2 * size
            header, size = self.header(finished, self.room)
            self._move(size)
        # The data first: the header never refers to data that isn't there.
        self.file.seek(0, os.SEEK_END)
        if self.file.tell() < 8 + self.room:
            self.file.write(header)
        for data in self.waiting:
            self.file.write(data)
        self.file.flush()
        self.file.seek(0)
        self.file.write(header)
        self.file.flush()
        self.waiting, self.waiting_size = [], 0

    def _move(self, room):
        """Copies the data behind a larger header, into a new file that replaces the old one."""
        beside = self.path + ".moving"
        begin = struct.unpack("<Q", self._at(0, 8))[0] + 8
        moved = open(beside, "w+b")
        moved.write(struct.pack("<Q", room) + b"{}" + b" " * (room - 2))
        self.file.seek(begin)
        while True:
            part = self.file.read(16 << 20)
            if not part:
                break
            moved.write(part)
        moved.flush()
        self.file.close()
        os.replace(beside, self.path)
        self.file = moved

    def _at(self, begin, size):
        self.file.seek(begin)
        return self.file.read(size)

    def close(self, finished):
        self.write(finished)
        self.file.close()


def _rank():
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def _rank_path(path, rank, world):
    if world == 1:
        return path
    stem, ending = os.path.splitext(path)
    return "%s.rank%d-of-%d%s" % (stem, rank, world, ending)


def _write_manifest(path, world, shards):
    files = [{"rank": rank, "file": os.path.basename(_rank_path(path, rank, world))} for rank in range(world)]
    manifest = {"format": FORMAT, "world_size": world, "ranks": files,
                "shards": [{"tensors": pattern, "axis": axis} for pattern, axis in shards.items()]}
    beside = os.path.splitext(path)[0] + ".manifest.json"
    with open(beside + ".writing", "w") as file:
        json.dump(manifest, file, indent=1)
    os.replace(beside + ".writing", beside)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("record.py A B: expected two recordings, which are compared bit for bit")
    try:
        _sentences, _status = first_difference(*sys.argv[1:])
    except (OSError, ValueError) as _error:
        _sentences, _status = [str(_error)], 2
    print(*_sentences, sep="\n")
    sys.exit(_status)
