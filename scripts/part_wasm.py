#!/usr/bin/env python3
"""Writes a WebAssembly program so that it packs better: what is alike lies together. A fourteenth is gained.

    scripts/part_wasm.py <PROGRAM.wasm >PARTED

A function's instructions, the numbers of its variables, its constants and so on are streams of their own, in parts of
some thousand functions, so that a browser compiles the first while the last arrive. app/browser/parted_wasm.cpp puts
them together again. The format, numbers in it being of 32 bits, the lowest byte first:

    "\\0dsw"                             a program begins "\\0asm"
    three tables of 256 instructions    the plain ones, those behind 0xfc and those behind 0xfd: for each the number of
                                        its parameters, and a byte for each: its stream · 16 + its kind
    parts, until the end                0, size, bytes as they are; or 1, the number of functions, the sizes of the
                                        16 streams, the streams

The instructions are those of the WebAssembly specification 2.0 and its proposal for exceptions ("legacy").
"""

import sys

# The streams. The first has what tells most about what follows: the instructions, alignments and types of blocks.
CODE, LOCAL, CONSTANT, OFFSET, CALLED, LABEL, LONG, GLOBAL, DECLARED, REAL, VECTOR, OTHER = range(12)
STREAMS = 16
# The kinds of parameters: a number of variable length, bytes, that many numbers (and one more), another instruction's
# number; and what begins or ends a block.
NUMBER, BYTE, BYTES_4, BYTES_8, BYTES_16, NUMBERS, NUMBERS_AND_ONE, PREFIX_FC, PREFIX_FD, OPENS, CLOSES = range(11)
WIDTHS = {BYTE: 1, BYTES_4: 4, BYTES_8: 8, BYTES_16: 16}

MEMORY = [(CODE, NUMBER), (OFFSET, NUMBER)]
BLOCK = [(CODE, NUMBER), (CODE, OPENS)]
TABLE_PAIR = [(OTHER, NUMBER), (OTHER, NUMBER)]


def instructions(*kinds):
    """A table of 256 from the numbers of instructions and their parameters."""
    table = [[] for _ in range(256)]
    for numbers, parameters in kinds:
        for number in numbers:
            table[number] = parameters
    return table


PLAIN = instructions(
    ([0x02, 0x03, 0x04, 0x06], BLOCK), ([0x0b], [(CODE, CLOSES)]), ([0x18], [(LABEL, NUMBER), (CODE, CLOSES)]),
    ([0x09, 0x0c, 0x0d], [(LABEL, NUMBER)]), ([0x07, 0x08], [(OTHER, NUMBER)]), ([0x0e], [(OTHER, NUMBERS_AND_ONE)]),
    ([0x10, 0xd2], [(CALLED, NUMBER)]), ([0x11], TABLE_PAIR), ([0x1c], [(OTHER, NUMBERS)]),
    ([0x20, 0x21, 0x22], [(LOCAL, NUMBER)]), ([0x23, 0x24], [(GLOBAL, NUMBER)]), ([0x25, 0x26, 0xd0], [(OTHER, NUMBER)]),
    (range(0x28, 0x3f), MEMORY), ([0x3f, 0x40], [(OTHER, BYTE)]), ([0x41], [(CONSTANT, NUMBER)]), ([0x42], [(LONG, NUMBER)]),
    ([0x43], [(REAL, BYTES_4)]), ([0x44], [(REAL, BYTES_8)]), ([0xfc], [(CODE, PREFIX_FC)]), ([0xfd], [(CODE, PREFIX_FD)]))
BEHIND_FC = instructions(([8, 10, 12, 14], TABLE_PAIR), ([9, 11, 13, 15, 16, 17], [(OTHER, NUMBER)]))
BEHIND_FD = instructions(
    ([*range(12), 92, 93], MEMORY), ([12, 13], [(VECTOR, BYTES_16)]), (range(21, 35), [(OTHER, BYTE)]),
    (range(84, 92), [*MEMORY, (OTHER, BYTE)]))

PART = 1 << 22  # bytes of functions: in larger parts more lies together, and a browser begins to compile later


class Program:
    """Reads a program from its beginning."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def skipped(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self):
        """A number of variable length, and its bytes."""
        start, value = self.at, 0
        while True:
            byte = self.data[self.at]
            value |= (byte & 127) << 7 * (self.at - start)
            self.at += 1
            if byte < 128:
                return value, self.data[start : self.at]


def short(value):
    """A number's shortest form."""
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes(result) + bytes([value])


def take_function(program, streams):
    size, written = program.number()
    end = program.at + size
    if written != short(size):
        sys.exit("part_wasm.py: a function's size that isn't in its shortest form; expected wasm-opt's output")
    count, written = program.number()
    streams[DECLARED] += written
    for _ in range(count):
        streams[DECLARED] += program.number()[1] + program.skipped(1)
    depth = 1
    while depth > 0:
        code = program.skipped(1)
        streams[CODE] += code
        parameters = list(PLAIN[code[0]])
        while parameters:
            stream, kind = parameters.pop(0)
            if kind in WIDTHS:
                streams[stream] += program.skipped(WIDTHS[kind])
            elif kind == OPENS:
                depth += 1
            elif kind == CLOSES:
                depth -= 1
            else:
                value, written = program.number()
                streams[stream] += written
                if kind in (PREFIX_FC, PREFIX_FD):
                    parameters = list((BEHIND_FC if kind == PREFIX_FC else BEHIND_FD)[value])
                elif kind in (NUMBERS, NUMBERS_AND_ONE):
                    for _ in range(value + kind - NUMBERS):
                        streams[stream] += program.number()[1]
    if program.at != end:
        sys.exit("part_wasm.py: a function that ends elsewhere; an instruction is missing from the tables")


def word(value):
    return value.to_bytes(4, "little")


def parted(data):
    for table in (PLAIN, BEHIND_FC, BEHIND_FD):
        for parameters in table:
            yield bytes([len(parameters), *(stream * 16 + kind for stream, kind in parameters)])
    program = Program(data)
    program.skipped(8)
    while program.at < len(data) and data[program.at] != 10:
        program.skipped(1)
        program.skipped(program.number()[0])
    program.skipped(1)
    program.number()
    left = program.number()[0]
    yield b"\0" + word(program.at) + data[: program.at]
    while left > 0:
        streams, start, count = [bytearray() for _ in range(STREAMS)], program.at, 0
        while left > 0 and program.at - start < PART:
            take_function(program, streams)
            left, count = left - 1, count + 1
        yield b"\1" + word(count) + b"".join(word(len(stream)) for stream in streams) + b"".join(streams)
    yield b"\0" + word(len(data) - program.at) + data[program.at :]


if __name__ == "__main__":
    sys.stdout.buffer.write(b"\0dsw")
    for part in parted(sys.stdin.buffer.read()):
        sys.stdout.buffer.write(part)
