#!/usr/bin/env python3
"""Lists the functions of a WebAssembly program that its first picture doesn't need, for wasm-split.

    scripts/second_part.py <PROGRAM.wasm >NAMES      # the program was linked with --profiling-funcs

They are those of the language of chat templates (engine/chat), but for what copies, compares and drops the plain values that
a scenario and the window keep. app/core/run/conversations.h says whether the second part is there; nothing may call it before.
"""

import re
import sys

SECOND = re.compile(rb"12decoderscope4chat")
FIRST = re.compile(rb"12decoderscope4chat(?:12Conversation|13FoundTemplate|7Finding|7LaidOut|10LaidOutRow)")


def number(data, at):
    """A number of variable length, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def text(data, at):
    size, at = number(data, at)
    return data[at:at + size], at + size


def function_names(program):
    """The names in the custom section "name", subsection 1."""
    at = 8  # behind "\\0asm" and the version
    while at < len(program):
        kind, (size, begin) = program[at], number(program, at + 1)
        at = end = begin + size
        if kind != 0:
            continue
        section, begin = text(program, begin)
        while section == b"name" and begin < end:
            part, (size, begin) = program[begin], number(program, begin + 1)
            if part == 1:
                count, here = number(program, begin)
                for _ in range(count):
                    _, here = number(program, here)
                    name, here = text(program, here)
                    yield name
            begin += size


def main():
    names = [name for name in function_names(sys.stdin.buffer.read()) if SECOND.search(name) and not FIRST.search(name)]
    if not names:
        sys.exit("standard input: no function of engine/chat has a name in it, expected a program linked with --profiling-funcs")
    sys.stdout.buffer.write(b"\n".join(names) + b"\n")


if __name__ == "__main__":
    main()
