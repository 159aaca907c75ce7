"""Runs chat templates by Jinja, set up as Hugging Face's transformers does, and knows of each character whose it is.

The texts that a template computes with are Marked: they remember, character by character, from which message they came,
through whatever Jinja and Python do with them. What is written is compared with what plain Jinja writes.
"""

from __future__ import annotations

import copy
import datetime
import functools
import json
import re
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from .overlay import Problem

# A template comes from a file that anyone may have written: how long it may work, how much it may write, how much a list
# may hold, and how many pieces of it may stand in each other.
_SECONDS = 5.0
_MOST_TEXT = 4 << 20
_MOST_VALUES, _DEEPEST = 1_000_000, 100
_DEEPEST_PIECES = 400
_MOST_PARTS = 100_000


class _TooMuch(jinja2.TemplateError):
    """A template worked too long, or made too much."""


class Origin(NamedTuple):
    """Where a character came from."""

    message: int = -1  # the message whose turn wrote it, or whose content it is; -1: none
    content: bool = False  # it is the message's own, not the template's
    generated: bool = False  # it was written between {% generation %} and {% endgeneration %}


_NONE = Origin()


class Marked(str):
    """A text that knows where each of its characters came from."""

    _origins: list[Origin]

    def __new__(cls, text: str = "", origins: Optional[list[Origin]] = None) -> Marked:
        made = super().__new__(cls, text)
        given = getattr(text, "_origins", None) if origins is None else origins
        made._origins = [_NONE] * len(made) if given is None else given
        return made

    def changed(self, change: Callable[[Origin], Origin]) -> Marked:
        known = {origin: change(origin) for origin in set(self._origins)}
        return Marked(self, [known[origin] for origin in self._origins])

    def _part(self, begin: int, length: int) -> Marked:
        return Marked(str.__getitem__(self, slice(begin, begin + length)), self._origins[begin:begin + length])

    def _parts(self, parts: Iterable[str], between: Optional[int] = None) -> list[Marked]:
        """Where parts stand that follow each other, `between` characters apart, or wherever the next begins."""
        made: list[Marked] = []
        place = 0
        for part in parts:
            if len(made) > _MOST_PARTS:
                raise _TooMuch(f"a text has more than {_MOST_PARTS} parts")
            place = str.find(self, part, place) if between is None else place
            made.append(self._part(place, len(part)))
            place += len(part) + (between or 0)
        return made

    # str(text) stays marked.
    def __str__(self) -> str:
        return self

    def __getitem__(self, key: Any) -> Marked:
        text = str.__getitem__(self, key)
        return Marked(text, self._origins[key] if isinstance(key, slice) else [self._origins[key]])

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __add__(self, other: str) -> Marked:
        return Marked(str.__add__(self, other), self._origins + _origins_of(other))

    def __radd__(self, other: str) -> Marked:
        return Marked(str.__add__(other, self), _origins_of(other) + self._origins)

    def __mul__(self, times: Any) -> Marked:
        return Marked(str.__mul__(self, times), self._origins * times)

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Marked:
        return _found_again(str.__mod__(self, values), (self, values))

    def __rmod__(self, template: str) -> Marked:
        return _found_again(str.__mod__(template, self), self)

    def strip(self, chars: Optional[str] = None, /) -> Marked:
        return self.lstrip(chars).rstrip(chars)

    def lstrip(self, chars: Optional[str] = None, /) -> Marked:
        left = len(str.lstrip(self, chars))
        return self._part(len(self) - left, left)

    def rstrip(self, chars: Optional[str] = None, /) -> Marked:
        return self._part(0, len(str.rstrip(self, chars)))

    def removeprefix(self, prefix: str, /) -> Marked:
        return self[len(prefix):] if prefix and self.startswith(prefix) else self

    def removesuffix(self, suffix: str, /) -> Marked:
        return self[:-len(suffix)] if suffix and self.endswith(suffix) else self

    def split(self, sep: Optional[str] = None, maxsplit: Any = -1) -> list[Any]:
        return self._parts(str.split(self, sep, maxsplit), None if sep is None else len(sep))

    def rsplit(self, sep: Optional[str] = None, maxsplit: Any = -1) -> list[Any]:
        return self._parts(str.rsplit(self, sep, maxsplit), None if sep is None else len(sep))

    def splitlines(self, keepends: bool = False) -> list[Any]:
        whole = self._parts(str.splitlines(self, True), 0)
        return [line[:len(short)] for line, short in zip(whole, str.splitlines(self, keepends))]

    def partition(self, sep: str, /) -> tuple[Any, Any, Any]:
        first, middle, last = self._parts(str.partition(self, sep), 0)
        return first, middle, last

    def rpartition(self, sep: str, /) -> tuple[Any, Any, Any]:
        first, middle, last = self._parts(str.rpartition(self, sep), 0)
        return first, middle, last

    def replace(self, old: str, new: str, count: Any = -1, /) -> Marked:
        if not old:
            return _found_again(str.replace(self, old, new, count), (self, new))
        return joined(self.split(old, count), new)

    def join(self, parts: Iterable[str], /) -> Marked:
        kept = list(parts)
        str.join(self, kept)  # refuses what isn't text, in Python's words
        return joined(kept, self)

    def _in_case(self, method: str) -> Marked:
        change = getattr(str, method)
        text = change(self)
        each = [len(change(character)) for character in str.__iter__(self)]
        if sum(each) != len(text):
            return _found_again(text, self)
        return Marked(text, [origin for origin, length in zip(self._origins, each) for _ in range(length)])

    def upper(self) -> Marked:
        return self._in_case("upper")

    def lower(self) -> Marked:
        return self._in_case("lower")

    def title(self) -> Marked:
        return self._in_case("title")

    def capitalize(self) -> Marked:
        return self._in_case("capitalize")


def _origins_of(text: str) -> list[Origin]:
    return text._origins if isinstance(text, Marked) else [_NONE] * len(text)


def joined(parts: Sequence[str], between: str = "") -> Marked:
    if sum(map(len, parts)) + len(parts) * len(between) > _MOST_TEXT:
        raise _TooMuch("the template makes too much text")
    origins: list[Origin] = []
    for number, part in enumerate(parts):
        origins += _origins_of(between) if number else []
        origins += _origins_of(part)
    return Marked(str.join(between, parts), origins)


class _Message(dict[str, Any]):
    """One of the messages. It knows its number, so that a loop over messages knows whose turn it is."""

    number = -1


def _marked(value: Any, origin: Origin) -> Any:
    if isinstance(value, str):
        return Marked(value, [origin] * len(value))
    if isinstance(value, list):
        return [_marked(one, origin) for one in value]
    if isinstance(value, dict):
        return {key: _marked(one, origin) for key, one in value.items()}
    return value


def _messages(messages: Sequence[Mapping[str, Any]]) -> list[_Message]:
    made = []
    for number, message in enumerate(messages):
        one = _Message((key, _marked(value, Origin(number, key != "role"))) for key, value in message.items())
        one.number = number
        made.append(one)
    return made


def _marked_within(value: Any) -> Iterator[Marked]:
    """The marked texts in a value, in order."""
    if isinstance(value, Marked):
        if any(origin is not _NONE for origin in value._origins):
            yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _marked_within(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _marked_within(one)


def _found_again(text: str, given: Any) -> Marked:
    """A text that something made of others, whose lines keep their origins where they still stand in it, in order."""
    origins = [_NONE] * len(text)
    place = 0
    for whole in _marked_within(given):
        at = 0
        for line in str.splitlines(whole, True):
            for run in _runs(whole._origins[at:at + len(line)]):
                part = line[run.begin:run.end].strip("\r\n")
                found = text.find(part, place) if part and run.origin is not _NONE else -1
                if found >= 0:
                    origins[found:found + len(part)] = [run.origin] * len(part)
                    place = found + len(part)
            at += len(line)
    return Marked(text, origins)


class Run(NamedTuple):
    begin: int
    end: int
    origin: Origin


def _runs(origins: Sequence[Origin]) -> list[Run]:
    """Neighbours of the same origin."""
    runs: list[Run] = []
    for place, origin in enumerate(origins):
        if runs and runs[-1].origin == origin:
            runs[-1] = runs[-1]._replace(end=place + 1)
        else:
            runs.append(Run(place, place + 1, origin))
    return runs


def _measured(value: Any) -> Any:
    """Refuses what no machine could write out: lists share what they hold, so that a few lines make a huge one."""
    count, open_values = 0, [(value, 1)]
    while open_values:
        one, depth = open_values.pop()
        inner = list(one.values()) if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else ()
        count += 1 + len(inner)
        if count > _MOST_VALUES or depth > _DEEPEST:
            raise _TooMuch(f"a list or a dict holds more than {_MOST_VALUES} values, or is deeper than {_DEEPEST}")
        open_values += [(held, depth + 1) for held in inner if isinstance(held, (dict, list, tuple))]
    return value


# ---- texts within lists, as JSON and as Python writes them

def _written_with_marks(value: Any, write: Callable[[Any], str]) -> Marked:
    """What `write` makes of a value, such as json.dumps: each text in it is written between two marks that are taken out
    again, so that its characters are found whatever becomes of them."""
    _measured(value)
    plain = write(value)
    if next(_marked_within(value), None) is None:
        return Marked(plain)
    sign = next((chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in plain), None)
    if sign is None:
        return _found_again(plain, value)
    written_sign = write([sign])[2:-2].strip("\n \"'")
    origins: list[Origin] = []

    def with_signs(one: Any) -> Any:
        if isinstance(one, Marked):
            runs = ""
            for run in _runs(one._origins):
                origins.append(run.origin)
                runs += f"{sign}{len(origins) - 1}{sign}{str.__getitem__(one, slice(run.begin, run.end))}"
            return f"{runs}{sign}{sign}"
        if isinstance(one, (list, tuple)):
            return type(one)(with_signs(item) for item in one)
        if isinstance(one, dict):
            return {key: with_signs(item) for key, item in one.items()}
        return one

    made: list[Marked] = []
    origin = _NONE
    pieces = re.split(re.escape(written_sign) + r"(\d*)" + re.escape(written_sign), write(with_signs(value)))
    for number, piece in enumerate(pieces):
        if number % 2:
            origin = origins[int(piece)] if piece else _NONE
        else:
            made.append(Marked(piece, [origin] * len(piece)))
    whole = joined(made)
    return whole if str.__eq__(whole, plain) else _found_again(plain, value)


def _tojson(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
    return _written_with_marks(value, lambda one: json.dumps(one, ensure_ascii=ensure_ascii, indent=indent,
                                                             separators=separators, sort_keys=sort_keys))


def _plain_tojson(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None,
                  sort_keys: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


# ---- the environments

class _Generation(Extension):
    """{% generation %} … {% endgeneration %}: what the model is to write."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        self.environment.__dict__["marks_generation"] = True
        return nodes.CallBlock(self.call_method("_generated"), [], [], body).set_lineno(line)

    def _generated(self, caller: Callable[[], str]) -> str:
        text = caller()
        return text.changed(lambda origin: origin._replace(generated=True)) if isinstance(text, Marked) else text


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


class _Clock:
    """strftime_now, on a given day or now, and whether it was asked."""

    def __init__(self, date: Optional[str]):
        try:
            self._now = datetime.datetime.strptime(date, "%Y-%m-%d") if date else datetime.datetime.now()
        except ValueError:
            raise Problem(f"date: {date}: expected one such as 2026-11-27") from None
        self.asked = False
        self.date = self._now.strftime("%Y-%m-%d")

    def strftime_now(self, format: str) -> str:
        self.asked = True
        return self._now.strftime(format)


def _set_up(made: jinja2.Environment, tojson: Callable[..., str], clock: _Clock) -> None:
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = _raise_exception
    made.globals["strftime_now"] = clock.strftime_now
    made.globals.pop("lipsum", None)  # text without end, for whoever asks


_OPTIONS: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "extensions": [_Generation, loopcontrols]}


class _Writing(CodeGenerator):
    """What a template writes goes through environment.wrote(), which says in whose turn it was written."""

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.wrote({super()._output_const_repr(group)})"

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.wrote(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concat((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class _Turns(jinja2.visitor.NodeTransformer):
    """Each loop says which message it is at, and each list is measured."""

    @staticmethod
    def _call(name: str, *given: nodes.Expr) -> nodes.Call:
        return nodes.Call(nodes.EnvironmentAttribute(name), list(given), [], None, None)

    def visit_For(self, node: nodes.For) -> list[nodes.Node]:
        self.generic_visit(node)
        item: nodes.Expr = nodes.Const(None)
        if isinstance(node.target, nodes.Name):
            item = nodes.Name(node.target.name, "load")
        node.body.insert(0, nodes.ExprStmt(self._call("turn_of", item)))
        return [nodes.ExprStmt(self._call("begin_turns")), node, nodes.ExprStmt(self._call("end_turns"))]

    def visit_List(self, node: nodes.Expr) -> nodes.Node:
        self.generic_visit(node)  # changes it in place
        return self._call("measured", node)

    visit_Dict = visit_List


class _Marking(ImmutableSandboxedEnvironment):
    """Jinja whose texts are Marked, and that does only so much."""

    code_generator_class = _Writing
    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, clock: _Clock):
        super().__init__(**_OPTIONS)
        _set_up(self, _tojson, clock)
        self._ends = time.process_time() + _SECONDS
        self._written = 0
        self._turns = [-1]
        for name, filter in list(self.filters.items()):
            if name != "tojson":
                self.filters[name] = self._keeping(filter)
        self.filters["join"] = self._joined
        self.filters["replace"] = _replaced
        self.filters["safe"] = lambda value: value if isinstance(value, str) else str(value)
        self.measured = _measured
        setattr(self, "concat", self._concat)  # a function of the class, for Jinja

    def _parse(self, source: str, name: Optional[str], filename: Optional[str]) -> nodes.Template:
        whole = super()._parse(source, name, filename)
        open_nodes: list[tuple[nodes.Node, int]] = [(whole, 0)]
        while open_nodes:
            node, depth = open_nodes.pop()
            if depth > _DEEPEST_PIECES:
                raise jinja2.TemplateSyntaxError(f"more than {_DEEPEST_PIECES} pieces stand in each other", node.lineno)
            open_nodes += [(inner, depth + 1) for inner in node.iter_child_nodes()]
        return _Turns().visit(whole)

    def _step(self) -> None:
        if time.process_time() > self._ends:
            raise _TooMuch(f"the template works longer than {_SECONDS:g} seconds")

    def _check(self, length: int) -> None:
        if length > _MOST_TEXT:
            raise _TooMuch("the template makes too much text")
        self._step()

    # What the generated code calls.

    def begin_turns(self) -> None:
        self._turns.append(self._turns[-1])

    def turn_of(self, item: Any) -> None:
        self._step()
        self._turns[-1] = item.number if isinstance(item, _Message) else self._turns[-2]

    def end_turns(self) -> None:
        self._turns.pop()

    def wrote(self, value: Any) -> Marked:
        text = self._text(value)
        self._written += len(text)
        self._check(self._written)
        turn = self._turns[-1]
        return text.changed(lambda origin: origin if origin.message >= 0 else origin._replace(message=turn))

    def _concat(self, parts: Iterable[Any]) -> Marked:
        made: list[Marked] = []
        length = 0
        for part in parts:
            made.append(self._text(part))
            length += len(made[-1])
            self._check(length)
        return joined(made)

    def _text(self, value: Any) -> Marked:
        if isinstance(value, (list, tuple, dict)):
            return _written_with_marks(value, str)
        return Marked(str(value))

    # Operators, methods and filters.

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        sizes = [len(one) if isinstance(one, (str, list, tuple)) else None for one in (left, right)]
        if operator == "+":
            self._check(sum(size or 0 for size in sizes))
        elif operator == "*":
            times, size = (right, sizes[0]) if sizes[0] is not None else (left, sizes[1])
            self._check(size * times if size is not None and isinstance(times, int) else 0)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self._check(left.bit_length() * abs(right) * 1000)
        elif operator == "%" and isinstance(left, str):
            self._check_widths(left)
        return super().call_binop(context, operator, left, right)

    def _check_widths(self, template: str) -> None:
        self._check(max((int(digits[:9]) for digits in re.findall(r"\d+", template)), default=0))

    def getattr(self, obj: Any, attribute: str) -> Any:
        return super().getattr(Marked(obj) if type(obj) is str else obj, attribute)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: B902
        owner = getattr(__obj, "__self__", getattr(getattr(__obj, "__wrapped__", None), "__self__", None))
        self = __self
        if owner is self:
            return super().call(__context, __obj, *args, **kwargs)
        return self._kept(lambda: super(_Marking, self).call(__context, __obj, *args, **kwargs), owner, args, kwargs)

    def _kept(self, work: Callable[[], Any], owner: Any, args: Any, kwargs: Any) -> Any:
        self._step()
        for number in [*args, *kwargs.values()]:
            if isinstance(number, int):
                self._check(number * 16)  # a width, or a number of copies
        if isinstance(owner, str):
            self._check_widths(owner if "{" in owner else "")
            self._check(len(owner) * max((len(one) for one in args if isinstance(one, str)), default=1) // 64)
        made = work()
        if isinstance(made, (str, list)):
            self._check(len(made) * 16)
        if type(made) is str or (type(made) is Marked and all(origin is _NONE for origin in made._origins)):
            return _found_again(made, (owner, args, kwargs))
        return made

    def _keeping(self, filter: Callable[..., Any]) -> Callable[..., Any]:
        """The filter, whose text keeps what it was given."""
        @functools.wraps(filter)
        def kept(*args: Any, **kwargs: Any) -> Any:
            return self._kept(lambda: filter(*args, **kwargs), None, args, kwargs)
        return kept

    @jinja2.pass_environment
    def _joined(self, environment: Any, value: Any, d: Any = "", attribute: Any = None) -> Marked:
        """Jinja's join, whose parts stay marked."""
        parts = value if attribute is None else map(jinja2.filters.make_attrgetter(self, attribute), value)
        made: list[Marked] = []
        length = 0
        for part in parts:
            made.append(self._text(part))
            length += len(made[-1]) + len(str(d))
            self._check(length)
        return joined(made, self._text(d))


def _replaced(value: Any, old: Any, new: Any, count: Optional[int] = None) -> Marked:
    return Marked(str(value)).replace(str(old), str(new), -1 if count is None else count)


class Rendered(NamedTuple):
    text: str
    runs: list[Run]  # neighbours of the same origin, from the first character to the last
    date: Optional[str]  # that the template was told, if it asked


class ChatTemplate:
    """A checkpoint's chat template, as transformers' apply_chat_template() runs it. Problem says what is wrong, with its line."""

    def __init__(self, source: str, date: Optional[str] = None):
        self._clock = _Clock(date)
        self._plain = ImmutableSandboxedEnvironment(**_OPTIONS)
        _set_up(self._plain, _plain_tojson, self._clock)
        self._source = source
        marking = _Marking(self._clock)
        _at_line(lambda: marking.from_string(source))
        # Whether it says itself, by {% generation %}, what the model is to write.
        self.marks_generation = bool(marking.__dict__.get("marks_generation"))

    def render(self, messages: Sequence[Mapping[str, Any]], **given: Any) -> Rendered:
        self._clock.asked = False
        marked = _messages(messages)
        try:
            made = _Marking(self._clock).from_string(self._source).render(messages=marked, **given)
        except _TooMuch as refused:
            raise Problem(f"line {_line_of(refused)}: {refused}") from None
        except Exception:  # Jinja's own words are better
            made = None
        # Only now: Jinja computes constants already when it reads a template, and plain Jinja has no limits.
        text = _at_line(lambda: self._plain.from_string(self._source).render(messages=copy.deepcopy(list(messages)), **given))
        # The marks must not change what is written. Where they do, the messages are looked for in the text.
        kept = made if isinstance(made, Marked) and str.__eq__(made, text) else _found_again(text, [
            {key: value for key, value in message.items() if key != "role"} for message in marked])
        return Rendered(text, _runs(kept._origins), self._clock.date if self._clock.asked else None)


def _line_of(error: BaseException) -> int:
    own = getattr(error, "lineno", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return own or (lines[-1] if lines else 1) or 1


def _at_line(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (RecursionError, MemoryError):
        raise Problem("line 1: too many pieces stand in each other, or too large ones") from None
    except jinja2.TemplateSyntaxError as error:
        raise Problem(f"line {error.lineno}: {_shortened(error.message)}") from None
    except SyntaxError as error:  # Python's own, about the code that Jinja makes of a template
        raise Problem(f"line 1: {error.msg}") from None
    except Exception as error:  # whatever the template makes Python throw
        said = str(error) if isinstance(error, jinja2.TemplateError) else f"{type(error).__name__}: {error}"
        raise Problem(f"line {_line_of(error)}: {_shortened(said)}") from None


def _shortened(text: Optional[str]) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= 200 else text[:200] + "…"
