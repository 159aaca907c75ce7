"""Files that appear whole or not at all, the desktop program, and texts that may be shown."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
from typing import Union

from .overlay import Problem

# Controls, line and paragraph separators, text direction, noncharacters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                          + "".join(chr(plane << 16 | 0xfffe) + chr(plane << 16 | 0xffff) for plane in range(17)) + "]")


def readable(text: str, most: int = 200) -> str:
    """A text of somebody else's, to be shown on one line: without control characters and marks of a text's direction."""
    clean = re.sub("[ \n\t]+", " ", _UNPRINTABLE.sub("", re.sub("[\ud800-\udfff]", "\ufffd", text))).strip(" ")
    return clean if len(clean) <= most else clean[:most] + "…"


def in_file_name(text: str) -> str:
    """A text as a part of a file's name: letters, digits and other characters that every system allows; the rest become "-"."""
    return re.sub("[\x00-/:-@\\[-`{-\x7f]+", "-", readable(text, 40)).strip("-")


def desktop_program() -> str:
    program = shutil.which("decoderscope")
    if program is None:
        raise Problem("expected the desktop program, decoderscope, on the PATH")
    return program


def write_whole(path: Union[str, pathlib.Path], contents: Union[str, bytes]) -> None:
    """Whole or not at all: the old file stays until the new one is there. A link stays a link."""
    target = os.path.realpath(path)
    made = None
    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(target), prefix=".decoderscope-", delete=False) as file:
            made = file.name
            file.write(contents.encode("utf-8", "replace") if isinstance(contents, str) else contents)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, _mode_of(target))
        os.replace(made, target)
    except OSError as refused:
        if made is not None and os.path.exists(made):
            os.unlink(made)
        raise Problem(f"{path}: cannot be written: {refused.strerror}") from None


def _mode_of(target: str) -> int:
    """That of the file that is replaced, or what a new one gets."""
    if os.path.exists(target):
        return os.stat(target).st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
