"""A still picture and a table of a recording, for where no script runs: a preview, a printed page, a screen reader."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recording import Recording

_PIXELS = 240  # of the longer side, about
_MOST_ROWS = 12


def still_picture(recording: Recording) -> str:
    """The first attention pattern as a heatmap, and what was recorded as a table. HTML."""
    return _heatmap(recording) + _table(recording)


def _heatmap(recording: Recording) -> str:
    patterns = recording.patterns()
    if not patterns:
        return ""
    name, shape = next(iter(patterns.items()))
    queries, keys = shape[-2:]
    weights = recording[name].reshape(-1, queries, keys)[0].float().tolist()
    picture = _png(weights, max(1, _PIXELS // max(queries, keys)))
    what = f"{name}, head 0: {queries} queries × {keys} keys"
    return f'<figure><img alt="{html.escape(f"{what}. {in_words(weights)}".strip())}" ' \
           f'src="data:image/png;base64,{base64.b64encode(picture).decode()}">' \
           f"<figcaption>{html.escape(what)}; darker is more weight.</figcaption></figure>"


def in_words(weights: list[list[float]]) -> str:
    """Where the weight of a pattern, [query, key], lies: its largest number, and the key that gets most of all rows'.

    NaN is counted, and otherwise left out. Empty for a pattern without numbers.
    """
    numbers = [(weight, query, key) for query, row in enumerate(weights) for key, weight in enumerate(row) if weight == weight]
    missing = sum(len(row) for row in weights) - len(numbers)
    words = [f"NaN in {missing} cells."] if missing else []
    if numbers:
        largest, query, key = max(numbers, key=lambda number: number[0])
        words.append(f"The largest weight is {largest:.4g}, of query {query} on key {key}.")
        by_key: dict[int, float] = {}
        for weight, _, key in numbers:
            by_key[key] = by_key.get(key, 0.0) + weight
        most = max(by_key, key=lambda key: by_key[key])
        if sum(by_key.values()) > 0:
            words.append(f"Key {most} gets {by_key[most] / sum(by_key.values()):.3g} of all weight, more than any other.")
    return " ".join(words)


def _png(weights: list[list[float]], scale: int) -> bytes:
    """A weight of 0 is white, of 1 dark blue."""
    rows = bytearray()
    for row in weights:
        line = bytearray(b"\0")  # no filter
        for weight in row:
            share = min(max(weight, 0.0), 1.0) if weight == weight else 0.0
            line += bytes(round(white + share * (dark - white)) for white, dark in ((255, 8), (255, 48), (255, 107))) * scale
        rows += line * scale
    width, height = len(weights[0]) * scale, len(weights) * scale

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def _table(recording: Recording) -> str:
    rows = [(name, recording.shape(name)) for name in recording if not name.startswith("param/")]
    lines = "".join(f"<tr><td>{html.escape(name)}</td><td>{list(shape)}</td></tr>" for name, shape in rows[:_MOST_ROWS])
    more = f"<tr><td>and {len(rows) - _MOST_ROWS} more</td><td></td></tr>" if len(rows) > _MOST_ROWS else ""
    return f"<table><tr><th>tensor</th><th>shape</th></tr>{lines}{more}</table>"
