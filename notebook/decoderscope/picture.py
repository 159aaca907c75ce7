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
    name, (*_, queries, keys) = next(iter(patterns.items()))
    weights = recording[name].reshape(-1, queries, keys)[0].float().tolist()
    picture = _png(weights, max(1, _PIXELS // max(queries, keys)))
    said = html.escape(f"{name}, head 0: {queries} queries × {keys} keys")
    return f'<figure><img alt="{said}" src="data:image/png;base64,{base64.b64encode(picture).decode()}">' \
           f"<figcaption>{said}; darker is more weight.</figcaption></figure>"


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
