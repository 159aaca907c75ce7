"""A training as a recording: loss, gradients, optimiser states and parameters at some of its steps; and where two part."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union

from .bisection import apart_at, worst_cell
from .overlay import Problem
from .recording import Recording

if TYPE_CHECKING:
    import torch

# What is recorded of a step, in the order of its computation.
_KINDS = ("in", "loss", "grad", "lr", "state", "param")
_SAID = {
    "in": "the model is given something else",
    "loss": "what it was given and the recorded steps before agree, the loss doesn't: bisect the models at this step",
    "grad": "the loss agrees, its gradients don't",
    "lr": "the gradients agree, the learning rate doesn't",
    "state": "the gradients and the learning rate agree, the optimiser's state doesn't",
    "param": "the gradients, the learning rate and the optimiser's state agree, the update doesn't",
}


class Training:
    """Records a training inside its with block: each optimizer.step() is a step of it, and backward()'s tensor its loss.

        with ds.Training(model, optimizer) as training:
            for x, y in batches: …
        training.save("mine.safetensors")

    steps      which are recorded, from 1: a function of the number; 1, 2, 4, 8, … unless given
    recording  what was recorded, once the block has ended: "step 4/grad.h.0.attn.weight"; step 0 has the parameters before
               the first

    Of each step: the tensors that the model was last given by position (in.0, …), loss (of loss.backward()), grad.NAME, lr.GROUP, state.NAME.KEY and param.NAME.
    """

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer,
                 steps: Callable[[int], bool] = lambda step: step & (step - 1) == 0):
        self._model, self._optimizer, self._wanted = model, optimizer, steps
        self._step = 0
        self._tensors: dict[str, torch.Tensor] = {}
        self._inputs: tuple[Any, ...] = ()
        self._loss: Optional[torch.Tensor] = None
        self.recording: Optional[Recording] = None

    def __enter__(self) -> Training:
        import torch

        self._keep("param", dict(self._model.named_parameters()))
        self._hook = self._model.register_forward_pre_hook(self._given)
        self._own_step = self._optimizer.__dict__.get("step")
        self._optimizer.step = functools.wraps(self._optimizer.step)(functools.partial(self._take_step, self._optimizer.step))
        self._backward = torch.Tensor.backward
        training = self

        def backward(loss: torch.Tensor, *arguments: Any, **named: Any) -> None:
            before = training._gradients()
            training._backward(loss, *arguments, **named)
            if training._gradients() != before:  # not the loss of another model
                training._loss = loss

        torch.Tensor.backward = backward
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import torch

        torch.Tensor.backward = self._backward
        self._hook.remove()
        if self._own_step is None:
            del self._optimizer.step
        else:
            self._optimizer.step = self._own_step
        self.recording = Recording.of_tensors(self._tensors, "training.safetensors")

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the recording."""
        if self.recording is None:
            raise Problem("Training.save: the training has not ended: call it behind the with block")
        with open(path, "wb") as file:
            file.write(self.recording.data)

    def _gradients(self) -> list[Any]:
        """Which they are and how often they were changed."""
        return [None if parameter.grad is None else (id(parameter.grad), parameter.grad._version)
                for parameter in self._model.parameters()]

    def _given(self, model: Any, inputs: tuple[Any, ...]) -> None:
        self._inputs = inputs

    def _take_step(self, step: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        import torch

        self._step += 1
        if not self._wanted(self._step):
            return step(*arguments, **named)
        names = {parameter: name for name, parameter in self._model.named_parameters()}
        self._keep("in", {str(i): value for i, value in enumerate(self._inputs) if torch.is_tensor(value)})
        if self._loss is not None:
            self._keep("loss", {"": self._loss})
        self._keep("grad", {name: parameter.grad for parameter, name in names.items() if parameter.grad is not None})
        groups = self._optimizer.param_groups
        self._keep("lr", {str(i): torch.tensor(float(group["lr"])) for i, group in enumerate(groups) if "lr" in group})
        done = step(*arguments, **named)
        state = {f"{names[parameter]}.{key}": value for parameter, values in self._optimizer.state.items() if parameter in names
                 for key, value in values.items() if torch.is_tensor(value)}
        self._keep("state", state)
        self._keep("param", {name: parameter for parameter, name in names.items()})
        return done

    def _keep(self, kind: str, tensors: dict[str, torch.Tensor]) -> None:
        for name, value in tensors.items():
            self._tensors[f"step {self._step}/{kind}{'.' + name if name else ''}"] = value.detach().cpu().clone()


class Parted:
    """Where two trainings part. It is true if they don't.

    step    the first recorded step that differs; None if none does
    name    its first tensor that does: "grad.h.0.attn.weight"
    text    all of it, in two lines
    """

    def __init__(self, step: Optional[int], name: str, text: str):
        self.step, self.name, self.text = step, name, text

    def __bool__(self) -> bool:
        return self.step is None

    def __repr__(self) -> str:
        return self.text


def part(mine: Union[Recording, str, os.PathLike[str]], reference: Union[Recording, str, os.PathLike[str]],
         tolerance: float = 1e-4) -> Parted:
    """The first step, and of it the first tensor, at which two recorded trainings differ, or that only one of them has. Steps
    that only one of them recorded are not compared.

    mine, reference   each a Training's recording, or the path of one
    tolerance         relative to a tensor's largest magnitude; rounding grows from step to step
    """
    ours, theirs = (which if isinstance(which, Recording) else Recording.of_file(os.fspath(which)) for which in (mine, reference))
    if not any(name in theirs for name in ours):
        raise Problem("part: the two trainings have no tensor of the same name; expected two of ds.Training's recordings")
    steps = sorted({_place(name)[0] for name in ours} & {_place(name)[0] for name in theirs})
    names = [name for name in dict.fromkeys((*ours, *theirs)) if _place(name)[0] in steps]
    for name in sorted(names, key=lambda name: _place(name)[:2]):
        step, kind, short = _place(name)
        numbers, relation = _apart(ours, theirs, name, tolerance)
        if not numbers:
            continue
        said = [f"Step {step}: {short}{numbers}; {_SAID[_KINDS[kind]] if step > 0 else 'they begin with other parameters'}."]
        if relation:
            said.append(relation)
        before = [known for known in steps if known < step]
        if before:
            said.append(f"Step {before[-1]} agrees." if before[-1] > 0 else "The parameters before step 1 agree.")
        return Parted(step, short, "\n".join(said))
    return Parted(None, "", f"{len(names)} tensors of steps {', '.join(map(str, steps))} agree.")


def _place(name: str) -> tuple[int, int, str]:
    """The step, the kind's number and the rest of the name: "step 4/grad.weight" is 4, 2 and "grad.weight"."""
    found = re.fullmatch(r"step (\d+)/((\w+).*)", name)
    if found is None or found[3] not in _KINDS:
        raise Problem(f"part: {name}, expected a tensor of a training: “step 4/loss”")
    return int(found[1]), _KINDS.index(found[3]), found[2]


def _apart(ours: Recording, theirs: Recording, name: str, tolerance: float) -> tuple[str, str]:
    """How the tensors of this name differ, behind it, and what one is to the other; both empty if they agree."""
    if name not in ours or name not in theirs:
        return f" is only in {'the reference' if name not in ours else 'this training'}", ""
    apart = apart_at(ours[name], theirs[name], tolerance)
    if apart is None:
        return "", ""
    if apart.cell is None:
        return f": {apart.numbers}", ""
    return f"{apart.cell or ''}: {apart.numbers}", _relation(ours, theirs, name)


def _relation(ours: Recording, theirs: Recording, name: str) -> str:
    """What the tensor is to the reference's, if that is one of what goes wrong in a training; else empty."""
    a, b = ours[name].double(), theirs[name].double()
    step, number, short = _place(name)
    kind, before_it = _KINDS[number], f"step {step - 1}/{short}"

    def is_near(x: torch.Tensor, y: torch.Tensor) -> bool:
        return worst_cell(x, y, 1e-3) is None

    if kind == "grad" and before_it in ours:
        if is_near(a - b, ours[before_it].double()):
            return "It is the gradient added to that of the step before: gradients are not set to 0 in between."
    if kind == "param" and before_it in theirs:
        before = theirs[before_it].double()
        factor = float(((a - b) * before).sum() / (before * before).sum())
        if factor != 0.0 and is_near(a - b, factor * before):
            rate = float(theirs[f"step {step}/lr.0"]) if f"step {step}/lr.0" in theirs else 1.0
            return (f"It differs by {factor:.3g} times the parameter before the step: as from a weight decay that is "
                    f"{abs(factor) / rate:.3g} {'smaller' if factor > 0.0 else 'larger'}.")
    if kind in ("grad", "loss", "state") and float((b * b).sum()) > 0.0:
        factor = float((a * b).sum() / (b * b).sum())
        if is_near(a, factor * b):
            return f"It is {factor:.4g} times what is expected."
    return ""
