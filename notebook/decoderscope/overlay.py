"""Numbers that colour map and timeline of what is shown: a mapping, or a file of them. docs/sessions.md has the format."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from .recording import Recording

_MOST_BYTES = 16 << 20
_LARGEST = 3.4e38  # a 32-bit float
_MOST_ROWS = 12


class Problem(Exception):
    """What could not be shown or saved, in a sentence."""


def place_in(recording: Recording, place: str) -> str:
    """The whole name of a tensor, a cell "NAME[0, 1]", or a module of the recording. KeyError with what is close."""
    name, bracket, cell = str(place).partition("[")
    if not bracket and any(known.startswith((name + "/", name + ".")) for known in recording):
        return name
    return recording.name_of(name) + bracket + cell


def overlay_of(overlay: Union[Mapping[str, Any], str, os.PathLike[str]], recording: Recording) -> dict[str, Any]:
    """The numbers as a session holds them: {"name": FILE, "values": [{"name": PLACE, "value": 0.5, "text": …}, …]}."""
    if isinstance(overlay, Mapping):
        name, rows = "overlay", _of_mapping(overlay)
    else:
        path = pathlib.Path(overlay)
        name, rows = path.name, _of_file(path)
    values = []
    for where, place, value, text in rows:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
            raise Problem(f"{where}: {value!r}, expected a finite number")
        try:
            values.append({"name": place_in(recording, place), "value": float(value), "text": text})
        except KeyError as unknown:
            raise Problem(f"{where}: {unknown.args[0]}") from None
    if not values:
        raise Problem(f"{name}: no numbers, expected NAME, value, text in each line")
    return {"name": name, "values": values}


def overlay_table(overlay: Mapping[str, Any]) -> str:
    """The first of them as HTML, for where no script runs."""
    values = overlay["values"]
    lines = "".join(f"<tr><td>{html.escape(one['name'])}</td><td>{one['value']:.4g}</td><td>{html.escape(one['text'])}</td></tr>"
                    for one in values[:_MOST_ROWS])
    more = f"<tr><td>and {len(values) - _MOST_ROWS} more</td></tr>" if len(values) > _MOST_ROWS else ""
    return f"<table>{lines}{more}</table>"


_Rows = Iterator[tuple[str, str, Any, str]]  # where it stands, NAME, value, text


def _of_mapping(overlay: Mapping[str, Any]) -> _Rows:
    for place, given in overlay.items():
        value, text = given if isinstance(given, tuple) and len(given) == 2 else (given, "")
        yield f"overlay[{place!r}]", str(place), _number(value), str(text)


def _number(value: Any) -> Any:
    """The only number of a tensor or an array as Python's own; anything else as it is."""
    try:
        return value.item() if hasattr(value, "item") else value
    except (ValueError, RuntimeError):  # it has several
        return value


def _of_file(path: pathlib.Path) -> _Rows:
    try:
        size = path.stat().st_size
    except OSError as failed:
        raise Problem(f"{path}: {failed.strerror}") from None
    if size > _MOST_BYTES:
        raise Problem(f"{path}: {size} bytes, expected at most {_MOST_BYTES}")
    try:
        text = path.read_text(encoding="utf-8-sig")
        return _of_json(path, json.loads(text)) if path.suffix == ".json" else _of_csv(path, text)
    except ValueError as failed:  # no UTF-8, no JSON
        raise Problem(f"{path}: {failed}") from None


def _of_json(path: pathlib.Path, listed: Any) -> _Rows:
    if not isinstance(listed, list):
        raise Problem(f"{path}: no list, expected [{{\"name\": …, \"value\": …, \"text\": …}}, …]")
    for number, one in enumerate(listed):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise Problem(f"{path}: item {number}: expected an object with \"name\", \"value\" and perhaps \"text\"")
        yield f"{path}: item {number}", one["name"], one.get("value"), str(one.get("text") or "")


def _of_csv(path: pathlib.Path, text: str) -> _Rows:
    quoted = re.sub(r'^([ \t]*)([^",\n]*\[[^\]\n]*\])', r'\1"\2"', text, flags=re.MULTILINE)  # a cell's commas
    rows = csv.reader(io.StringIO(quoted), skipinitialspace=True)
    for fields in rows:
        fields = [field.strip() for field in fields]
        where = f"{path}:{rows.line_num}"
        if fields in ([], [""]) or (rows.line_num == 1 and fields[0].lower() == "name"):
            continue
        if len(fields) not in (2, 3):
            raise Problem(f"{where}: {len(fields)} fields, expected NAME, value, text")
        try:
            value = float(fields[1])
        except ValueError:
            raise Problem(f"{where}: {fields[1]!r}, expected a finite number") from None
        yield where, fields[0], value, fields[2] if len(fields) == 3 else ""
